package main

import "context"

type defaulter struct{}

// Default fills in what the job leaves out, and names typed tasks by their type.
func (defaulter) Default(_ context.Context, job *DIJob) error {
	spec := &job.Spec
	if spec.Priority == "" {
		spec.Priority = "normal"
	}
	if spec.CleanPodPolicy == "" {
		spec.CleanPodPolicy = "Running"
	}
	if spec.BackoffLimit == nil {
		spec.BackoffLimit = new(int32(3))
	}
	for i := range spec.Tasks {
		task := &spec.Tasks[i]
		if task.Type == "" {
			task.Type = none
		}
		if task.Replicas == nil {
			task.Replicas = new(int32(1))
		}
		if task.Name == "" && task.Type != none {
			task.Name = string(task.Type)
		}
	}
	return nil
}
