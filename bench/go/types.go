package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "diengine.opendilab.org", Version: "v2alpha1"}

// TaskType is the role of a task in training.
type TaskType string

const (
	learner   TaskType = "learner"
	collector TaskType = "collector"
	evaluator TaskType = "evaluator"
	none      TaskType = "none"
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
	Name         string                 `json:"name,omitempty"`
	Type         TaskType               `json:"type,omitempty"`
	Replicas     *int32                 `json:"replicas,omitempty"`
	MinAvailable *int32                 `json:"minAvailable,omitempty"`
	DependsOn    *DependsOn             `json:"dependsOn,omitempty"`
	Policies     []LifecyclePolicy      `json:"policies,omitempty"`
	Template     corev1.PodTemplateSpec `json:"template"`
}

// DIJobSpec is what the user asks for.
type DIJobSpec struct {
	Priority                string              `json:"priority,omitempty"`
	CleanPodPolicy          string              `json:"cleanPodPolicy,omitempty"`
	Preemptible             bool                `json:"preemptible"`
	BackoffLimit            *int32              `json:"backoffLimit,omitempty"`
	MinAvailable            *int32              `json:"minAvailable,omitempty"`
	Queue                   string              `json:"queue,omitempty"`
	SchedulerName           string              `json:"schedulerName,omitempty"`
	PriorityClassName       string              `json:"priorityClassName,omitempty"`
	TTLSecondsAfterFinished *int32              `json:"ttlSecondsAfterFinished,omitempty"`
	Suspend                 *bool               `json:"suspend,omitempty"`
	Policies                []LifecyclePolicy   `json:"policies,omitempty"`
	Plugins                 map[string][]string `json:"plugins,omitempty"`
	MinReplicas             *int32              `json:"minReplicas,omitempty"`
	MaxReplicas             *int32              `json:"maxReplicas,omitempty"`
	Volumes                 []corev1.Volume     `json:"volumes,omitempty"`
	Tasks                   []Task              `json:"tasks"`
}

// DIJobStatus is what the operator has seen.
type DIJobStatus struct {
	Phase         string `json:"phase,omitempty"`
	Replicas      int32  `json:"replicas,omitempty"`
	ReadyReplicas int32  `json:"readyReplicas,omitempty"`
	Restarts      int32  `json:"restarts,omitempty"`
}

// DIJob is a reinforcement-learning job.
type DIJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DIJobSpec   `json:"spec,omitempty"`
	Status DIJobStatus `json:"status,omitzero"`
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &DIJob{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return scheme
}
