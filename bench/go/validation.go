package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// maxJobName leaves room for what the operator appends to make the names of pods.
const maxJobName = 53

type validator struct{}

// ValidateCreate checks a new job.
func (validator) ValidateCreate(_ context.Context, job *DIJob) (admission.Warnings, error) {
	return nil, invalid(job, validate(job))
}

// ValidateUpdate checks the new state of a job.
func (validator) ValidateUpdate(_ context.Context, _, job *DIJob) (admission.Warnings, error) {
	return nil, invalid(job, validate(job))
}

// ValidateDelete allows every deletion.
func (validator) ValidateDelete(context.Context, *DIJob) (admission.Warnings, error) {
	return nil, nil
}

func invalid(job *DIJob, causes field.ErrorList) error {
	if len(causes) == 0 {
		return nil
	}
	return apierrors.NewInvalid(groupVersion.WithKind("DIJob").GroupKind(), job.Name, causes)
}

// validate checks bounds, names and types; nothing of the pod templates.
func validate(job *DIJob) field.ErrorList {
	var causes field.ErrorList
	if len(job.Name) > maxJobName {
		causes = append(causes, field.TooLong(field.NewPath("metadata", "name"), job.Name, maxJobName))
	}
	spec := field.NewPath("spec")
	least, most := job.Spec.MinReplicas, job.Spec.MaxReplicas
	causes = append(causes, atLeast(spec.Child("backoffLimit"), job.Spec.BackoffLimit, 0)...)
	causes = append(causes, atLeast(spec.Child("minReplicas"), least, 1)...)
	causes = append(causes, atLeast(spec.Child("maxReplicas"), most, 1)...)
	if least != nil && most != nil && *least > *most {
		causes = append(causes, field.Invalid(spec.Child("minReplicas"), *least, "must be at most spec.maxReplicas"))
	}
	if len(job.Spec.Tasks) == 0 {
		causes = append(causes, field.Required(spec.Child("tasks"), "a job has at least one task"))
	}
	return append(causes, validateTasks(job.Spec.Tasks, spec.Child("tasks"))...)
}

func validateTasks(tasks []Task, path *field.Path) field.ErrorList {
	var causes field.ErrorList
	names, types := make(map[string]bool, len(tasks)), map[TaskType]bool{}
	for i := range tasks {
		task, at := &tasks[i], path.Index(i)
		switch task.Type {
		case learner, collector, evaluator:
			if types[task.Type] {
				causes = append(causes, field.Duplicate(at.Child("type"), task.Type))
			}
			types[task.Type] = true
		case none:
		default:
			known := []TaskType{learner, collector, evaluator, none}
			causes = append(causes, field.NotSupported(at.Child("type"), task.Type, known))
		}
		switch {
		case task.Name == "":
			causes = append(causes, field.Required(at.Child("name"), "a task of type none needs a name"))
		case names[task.Name]:
			causes = append(causes, field.Duplicate(at.Child("name"), task.Name))
		default:
			for _, wrong := range validation.IsDNS1123Label(task.Name) {
				causes = append(causes, field.Invalid(at.Child("name"), task.Name, wrong))
			}
		}
		names[task.Name] = true
		causes = append(causes, atLeast(at.Child("replicas"), task.Replicas, 1)...)
		causes = append(causes, atLeast(at.Child("minAvailable"), task.MinAvailable, 0)...)
		if task.MinAvailable != nil && task.Replicas != nil && *task.MinAvailable > *task.Replicas {
			causes = append(causes, field.Invalid(at.Child("minAvailable"), *task.MinAvailable, "must be at most replicas"))
		}
	}
	return causes
}

func atLeast(path *field.Path, value *int32, least int32) field.ErrorList {
	if value == nil || *value >= least {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "is too small")}
}
