{{- /* CRDs are kept when the release is uninstalled, because their objects would be deleted.

The CRD of a kind that is switched off stays part of the release that created it: Helm cannot roll back to a revision
with an object that exists but is not part of the current one. */}}
{{- define "jobgate.created" }}
{{- $annotations := dig "metadata" "annotations" dict (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .name) }}
{{- $name := get $annotations "meta.helm.sh/release-name" }}
{{- $namespace := get $annotations "meta.helm.sh/release-namespace" }}
{{- if and (eq .release.Name $name) (eq .release.Namespace $namespace) }}true{{ end }}
{{- end }}
{{- if .Values.crds }}
{{- range $path, $_ := .Files.Glob "files/crds/*_*.yaml" }}
{{- $text := $.Files.Get $path }}
{{- $crd := fromYaml $text }}
{{- $labels := dict "app.kubernetes.io/instance" $.Values.name "jobgate.dev/installation-namespace" $.Release.Namespace }}
{{- $name := $crd.metadata.name }}
{{- if or (eq $crd.spec.group "jobgate.dev") (index $.Values.kinds $name) (include "jobgate.created" (dict "name" $name "release" $.Release)) }}
---
{{- $service := dig "spec" "conversion" "webhook" "clientConfig" "service" dict $crd }}
{{- if and (eq (get $service "path") "/convert") (eq (get $service "name") "jobgate-webhook") }}
{{- $_ := set $service "namespace" $.Release.Namespace }}
{{- $_ := set $service "name" $.Values.service }}
{{- $_ := set $service "port" (int $.Values.servicePort) }}
{{- $annotations := dict "helm.sh/resource-policy" "keep" }}
{{- if eq $.Values.rotation "cert-manager" }}
{{- $_ := set $annotations "cert-manager.io/inject-ca-from" (printf "%s/jobgate-webhook" $.Release.Namespace) }}
{{- end }}
{{- with $.Values.caBundle }}
{{- $_ := set $crd.spec.conversion.webhook.clientConfig "caBundle" (b64enc .) }}
{{- end }}
{{- $_ := set $crd.metadata "annotations" (merge $annotations (default dict $crd.metadata.annotations)) }}
{{- $_ := set $crd.metadata "labels" (merge $labels $crd.metadata.labels) }}
{{ toYaml $crd }}
{{- else }}
{{- $kept := "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n" }}
{{- $added := printf "\n  labels:\n    %s\n" (toYaml $labels | nindent 4 | trim) }}
{{ $text | replace "\nmetadata:\n" $kept | replace "\n  labels:\n" $added }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
