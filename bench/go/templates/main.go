// A webhook for Volcano Jobs that checks pod templates in full, with the API server's own code, as Volcano's webhook does:
// typed structs, patches written by hand, net/http over TLS. One JSON log line a review.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

type review func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

func serve(path string, review review) {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("path", path)
	http.HandleFunc(path, func(writer http.ResponseWriter, request *http.Request) {
		started := time.Now()
		body, err := io.ReadAll(request.Body)
		var sent admissionv1.AdmissionReview
		if err == nil {
			err = kubejson.Unmarshal(body, &sent)
		}
		if err != nil || sent.Request == nil {
			http.Error(writer, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		response := review(sent.Request)
		response.UID = sent.Request.UID
		answer, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: sent.TypeMeta, Response: response})
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		_, _ = writer.Write(answer)
		log.Info("request",
			"uid", sent.Request.UID, "operation", sent.Request.Operation, "kind", sent.Request.Kind.Kind,
			"namespace", sent.Request.Namespace, "name", sent.Request.Name, "user", sent.Request.UserInfo.Username,
			"bytes", len(body), "allowed", response.Allowed, "milliseconds", float64(time.Since(started).Microseconds())/1000)
	})
}

func denied(err error) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: err.Error()}}
}

func decoded(request *admissionv1.AdmissionRequest) (*Job, error) {
	job := &Job{}
	return job, kubejson.Unmarshal(request.Object.Raw, job)
}

func main() {
	port := flag.Int("port", 9443, "of the webhook, over TLS")
	certificates := flag.String("cert-dir", ".", "folder of tls.crt and tls.key")
	_ = flag.String("metrics", "", "ignored: this webhook has none")
	flag.Parse()
	const path = "batch-volcano-sh-v1alpha1-job"
	serve("/mutate-"+path, mutate)
	serve("/validate-"+path, validate)
	address := "127.0.0.1:" + strconv.Itoa(*port)
	err := http.ListenAndServeTLS(address, filepath.Join(*certificates, "tls.crt"), filepath.Join(*certificates, "tls.key"), nil)
	slog.Error("serve", "error", err)
	os.Exit(1)
}
