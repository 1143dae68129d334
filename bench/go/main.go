// The webhook that the benchmarks compare jobgate with: controller-runtime in its ordinary shape, with typed structs,
// a Defaulter and a Validator that has the basic rules of a DIJob. One JSON log line a review, metrics on.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const path = "diengine-opendilab-org-v2alpha1-dijob"

// logged writes a line about each review, with the fields that jobgate's line has.
type logged struct {
	admission.Handler
	log logr.Logger
}

func (l logged) Handle(ctx context.Context, req admission.Request) admission.Response {
	started := time.Now()
	response := l.Handler.Handle(ctx, req)
	l.log.Info("request",
		"uid", req.UID, "operation", req.Operation, "apiVersion", req.Kind.Group+"/"+req.Kind.Version,
		"kind", req.Kind.Kind, "namespace", req.Namespace, "name", req.Name, "user", req.UserInfo.Username,
		"dryRun", req.DryRun, "bytes", len(req.Object.Raw), "allowed", response.Allowed,
		"operations", len(response.Patches), "milliseconds", float64(time.Since(started).Microseconds())/1000)
	return response
}

// newLogger returns controller-runtime's production logger without its sampling, which would drop most lines under load.
func newLogger() logr.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zapr.NewLogger(zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), zapcore.InfoLevel)))
}

func main() {
	port := flag.Int("port", 9443, "of the webhook, over TLS")
	metricsAddress := flag.String("metrics", "127.0.0.1:8080", "where metrics are served")
	certificates := flag.String("cert-dir", ".", "folder of tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(newLogger())
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates})
	scheme := newScheme()
	register := func(path string, hook *admission.Webhook) {
		hook.Handler = logged{hook.Handler, ctrl.Log.WithName("review").WithValues("path", path)}
		server.Register(path, hook)
	}
	register("/mutate-"+path, admission.WithDefaulter[*DIJob](scheme, defaulter{}))
	register("/validate-"+path, admission.WithValidator[*DIJob](scheme, validator{}))
	go func() {
		err := http.ListenAndServe(*metricsAddress, promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
		ctrl.Log.Error(err, "metrics")
	}()
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "serve")
		os.Exit(1)
	}
}
