// Command oracle tells which objects kubectl reads from a manifest.
//
// It walks a stream as kubectl's resource builder does, with the same libraries: the decoder that chooses between YAML
// and JSON, the scheme of unstructured objects, the expansion of lists. Standard input is a JSON array of base64 texts;
// standard output is a JSON array with, for each, {"objects": […]} as they would be sent, or {"error": "…"}.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// peek is how far kubectl looks into a stream for the brace that makes it JSON.
const peek = 4096

type answer struct {
	Objects []json.RawMessage `json:"objects,omitempty"`
	Error   string            `json:"error,omitempty"`
}

func main() {
	var texts [][]byte
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	answers := make([]answer, len(texts))
	for i, text := range texts {
		objects, err := read(text)
		if err != nil {
			answers[i] = answer{Error: err.Error()}
			continue
		}
		answers[i] = answer{Objects: objects}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func read(text []byte) ([]json.RawMessage, error) {
	sent := []json.RawMessage{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), peek)
	for {
		document := runtime.RawExtension{}
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return nil, err
		}
		raw := bytes.TrimSpace(document.Raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		object, err := runtime.Decode(unstructured.UnstructuredJSONScheme, raw)
		if err != nil {
			return nil, err
		}
		items, err := flatten(object)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			encoded, err := encode(item)
			if err != nil {
				return nil, err
			}
			sent = append(sent, encoded)
		}
	}
}

// flatten expands lists, and the lists in them.
func flatten(object runtime.Object) ([]runtime.Object, error) {
	flat := []runtime.Object{}
	queue := []runtime.Object{object}
	for i := 0; i < len(queue); i++ {
		if !meta.IsListType(queue[i]) {
			flat = append(flat, queue[i])
			continue
		}
		items, err := meta.ExtractList(queue[i])
		if err != nil {
			return nil, err
		}
		if errs := runtime.DecodeList(items, unstructured.UnstructuredJSONScheme); len(errs) > 0 {
			return nil, errors.Join(errs...)
		}
		queue = append(queue, items...)
	}
	return flat, nil
}

// encode writes the request's body. No server knows a resource for an empty kind or version, so those end here too.
func encode(object runtime.Object) (json.RawMessage, error) {
	kind := object.GetObjectKind().GroupVersionKind()
	if kind.Kind == "" || kind.Version == "" {
		return nil, fmt.Errorf("no resource for kind %q in version %q", kind.Kind, kind.GroupVersion())
	}
	return runtime.Encode(unstructured.UnstructuredJSONScheme, object)
}
