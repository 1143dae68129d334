// A TLS client as the API server is one: it trusts the CAs of one file and asks for one name.
//
// Usage: client CA-FILE ADDRESS NAME...
//
// For each name it makes a handshake and prints `NAME ok` or `NAME: why not`.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	bundle, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		fmt.Fprintln(os.Stderr, "no certificate in", os.Args[1])
		os.Exit(2)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	for _, name := range os.Args[3:] {
		connection, err := tls.DialWithDialer(dialer, "tcp", os.Args[2], &tls.Config{RootCAs: roots, ServerName: name})
		if err != nil {
			fmt.Printf("%s: %v\n", name, err)
			continue
		}
		connection.Close()
		fmt.Printf("%s ok\n", name)
	}
}
