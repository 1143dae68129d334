module jobgate.dev/tests/certs

go 1.26
