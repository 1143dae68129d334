package main

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject makes DIJob a runtime.Object. It copies what controller-gen's code would.
func (in *DIJob) DeepCopyObject() runtime.Object {
	out := &DIJob{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	spec := &out.Spec
	spec.BackoffLimit = copied(spec.BackoffLimit)
	spec.MinAvailable = copied(spec.MinAvailable)
	spec.TTLSecondsAfterFinished = copied(spec.TTLSecondsAfterFinished)
	spec.Suspend = copied(spec.Suspend)
	spec.Policies = copiedPolicies(spec.Policies)
	spec.Plugins = maps.Clone(spec.Plugins)
	for name, arguments := range spec.Plugins {
		spec.Plugins[name] = slices.Clone(arguments)
	}
	spec.MinReplicas = copied(spec.MinReplicas)
	spec.MaxReplicas = copied(spec.MaxReplicas)
	if in.Spec.Volumes != nil {
		spec.Volumes = make([]corev1.Volume, len(in.Spec.Volumes))
		for i := range in.Spec.Volumes {
			in.Spec.Volumes[i].DeepCopyInto(&spec.Volumes[i])
		}
	}
	spec.Tasks = slices.Clone(spec.Tasks)
	for i := range spec.Tasks {
		task := &spec.Tasks[i]
		task.Replicas = copied(task.Replicas)
		task.MinAvailable = copied(task.MinAvailable)
		if task.DependsOn != nil {
			task.DependsOn = &DependsOn{Name: slices.Clone(task.DependsOn.Name), Iteration: task.DependsOn.Iteration}
		}
		task.Policies = copiedPolicies(task.Policies)
		in.Spec.Tasks[i].Template.DeepCopyInto(&task.Template)
	}
	return out
}

func copied[T any](value *T) *T {
	if value == nil {
		return nil
	}
	return new(*value)
}

func copiedPolicies(policies []LifecyclePolicy) []LifecyclePolicy {
	out := slices.Clone(policies)
	for i := range out {
		out[i].Events = slices.Clone(out[i].Events)
		out[i].ExitCode = copied(out[i].ExitCode)
		out[i].Timeout = copied(out[i].Timeout)
	}
	return out
}
