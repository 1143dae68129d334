package main

import (
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core"
	kubecore "k8s.io/kubernetes/pkg/apis/core/v1"
	kubevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

// validate checks the job, and each template with the API server's defaults and rules.
func validate(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	job, err := decoded(request)
	if err != nil {
		return denied(err)
	}
	if causes := check(&job.Spec); len(causes) > 0 {
		return denied(causes.ToAggregate())
	}
	return &admissionv1.AdmissionResponse{Allowed: true}
}

func check(spec *JobSpec) field.ErrorList {
	var causes field.ErrorList
	path := field.NewPath("spec")
	if len(spec.Tasks) == 0 {
		causes = append(causes, field.Required(path.Child("tasks"), "a job has at least one task"))
	}
	if spec.MinAvailable < 0 {
		causes = append(causes, field.Invalid(path.Child("minAvailable"), spec.MinAvailable, "must be at least 0"))
	}
	names, replicas := make(map[string]bool, len(spec.Tasks)), int32(0)
	for i := range spec.Tasks {
		task, at := &spec.Tasks[i], path.Child("tasks").Index(i)
		replicas += task.Replicas
		if names[task.Name] {
			causes = append(causes, field.Duplicate(at.Child("name"), task.Name))
		}
		names[task.Name] = true
		for _, wrong := range validation.IsDNS1123Label(task.Name) {
			causes = append(causes, field.Invalid(at.Child("name"), task.Name, wrong))
		}
		if task.Replicas < 0 {
			causes = append(causes, field.Invalid(at.Child("replicas"), task.Replicas, "must be at least 0"))
		}
		if task.MinAvailable != nil && (*task.MinAvailable < 0 || *task.MinAvailable > task.Replicas) {
			causes = append(causes, field.Invalid(at.Child("minAvailable"), *task.MinAvailable, "must be at most replicas"))
		}
		causes = append(causes, checkTemplate(&task.Template, at.Child("template"))...)
	}
	if spec.MinAvailable > replicas {
		causes = append(causes, field.Invalid(path.Child("minAvailable"), spec.MinAvailable, "more than all replicas"))
	}
	return causes
}

func checkTemplate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	defaulted := &corev1.PodTemplate{Template: *template.DeepCopy()}
	kubecore.SetObjectDefaults_PodTemplate(defaulted)
	var converted core.PodTemplateSpec
	if err := kubecore.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(&defaulted.Template, &converted, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return kubevalidation.ValidatePodTemplateSpec(&converted, path, kubevalidation.PodValidationOptions{})
}
