package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LifecyclePolicy says what is done at events of the pods.
type LifecyclePolicy struct {
	Action   string           `json:"action,omitempty"`
	Event    string           `json:"event,omitempty"`
	Events   []string         `json:"events,omitempty"`
	ExitCode *int32           `json:"exitCode,omitempty"`
	Timeout  *metav1.Duration `json:"timeout,omitempty"`
}

// DependsOn names the tasks that a task waits for.
type DependsOn struct {
	Name      []string `json:"name,omitempty"`
	Iteration string   `json:"iteration,omitempty"`
}

// Task is a group of pods that share one template.
type Task struct {
	Name           string                 `json:"name,omitempty"`
	Replicas       int32                  `json:"replicas,omitempty"`
	MinAvailable   *int32                 `json:"minAvailable,omitempty"`
	Template       corev1.PodTemplateSpec `json:"template,omitempty"`
	Policies       []LifecyclePolicy      `json:"policies,omitempty"`
	TopologyPolicy string                 `json:"topologyPolicy,omitempty"`
	MaxRetry       int32                  `json:"maxRetry,omitempty"`
	DependsOn      *DependsOn             `json:"dependsOn,omitempty"`
}

// JobSpec is what the user asks for.
type JobSpec struct {
	SchedulerName           string              `json:"schedulerName,omitempty"`
	MinAvailable            int32               `json:"minAvailable,omitempty"`
	Tasks                   []Task              `json:"tasks,omitempty"`
	Policies                []LifecyclePolicy   `json:"policies,omitempty"`
	Plugins                 map[string][]string `json:"plugins,omitempty"`
	Queue                   string              `json:"queue,omitempty"`
	MaxRetry                int32               `json:"maxRetry,omitempty"`
	TTLSecondsAfterFinished *int32              `json:"ttlSecondsAfterFinished,omitempty"`
	PriorityClassName       string              `json:"priorityClassName,omitempty"`
	MinSuccess              *int32              `json:"minSuccess,omitempty"`
}

// Job is a Volcano Job.
type Job struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec JobSpec `json:"spec,omitempty"`
}
