package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
)

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// mutate adds the defaults of the job, and of each task.
func mutate(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	job, err := decoded(request)
	if err != nil {
		return denied(err)
	}
	patch, err := json.Marshal(defaults(&job.Spec))
	if err != nil {
		return denied(err)
	}
	patchType := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: &patchType}
}

func defaults(spec *JobSpec) []operation {
	patch := []operation{}
	add := func(path string, value any) { patch = append(patch, operation{"add", path, value}) }
	if spec.Queue == "" {
		add("/spec/queue", "default")
	}
	if spec.SchedulerName == "" {
		add("/spec/schedulerName", "volcano")
	}
	if spec.MaxRetry == 0 {
		add("/spec/maxRetry", 3)
	}
	least := int32(0)
	for i := range spec.Tasks {
		task, at := &spec.Tasks[i], fmt.Sprintf("/spec/tasks/%d", i)
		if task.Name == "" {
			add(at+"/name", "default"+strconv.Itoa(i))
		}
		if task.MaxRetry == 0 {
			add(at+"/maxRetry", 3)
		}
		if task.MinAvailable == nil {
			add(at+"/minAvailable", task.Replicas)
			least += task.Replicas
		} else {
			least += *task.MinAvailable
		}
	}
	if spec.MinAvailable == 0 {
		add("/spec/minAvailable", least)
	}
	return patch
}
