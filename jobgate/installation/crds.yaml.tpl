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
{{- $name := $crd.metadata.name }}
{{- if or (eq $crd.spec.group "jobgate.dev") (index $.Values.kinds $name) (include "jobgate.created" (dict "name" $name "release" $.Release)) }}
---
{{ replace "\nmetadata:\n" "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n" $text }}
{{- end }}
{{- end }}
{{- end }}
