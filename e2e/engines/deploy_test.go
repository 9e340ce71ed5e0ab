package engines

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"

	"plantstore/e2e/internal/tools"
)

// TestKubernetes decodes the manifests as strictly as Kubernetes: an unknown or duplicate
// field is a failure. Then it checks the fields that matter.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	var deployment appsv1.Deployment
	var service corev1.Service
	var budget policyv1.PodDisruptionBudget
	text := tools.ProjectFile(t, "docs/deploy/kubernetes.yaml")
	documents := strings.Split(string(text), "\n---\n")
	for i, object := range []any{&deployment, &service, &budget} {
		if err := yaml.UnmarshalStrict([]byte(documents[i]), object); err != nil {
			t.Fatal(err)
		}
	}
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	for rule, ok := range map[string]bool{
		"three documents, of the kinds that were read": len(documents) == 3 && deployment.Kind == "Deployment" &&
			service.Kind == "Service" && budget.Kind == "PodDisruptionBudget",
		"three replicas, of which two stay": *deployment.Spec.Replicas == 3 && budget.Spec.MinAvailable.IntValue() == 2,
		"all select the same pods": fmt.Sprint(pod.Labels) == fmt.Sprint(deployment.Spec.Selector.MatchLabels) &&
			fmt.Sprint(pod.Labels) == fmt.Sprint(service.Spec.Selector) && fmt.Sprint(pod.Labels) == fmt.Sprint(budget.Spec.Selector.MatchLabels),
		"not root": *pod.Spec.SecurityContext.RunAsNonRoot && *pod.Spec.SecurityContext.RunAsUser == 65532,
		"a read-only root file system, no capability": *container.SecurityContext.ReadOnlyRootFilesystem &&
			!*container.SecurityContext.AllowPrivilegeEscalation && slices.Equal(container.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}),
		"three probes":            container.StartupProbe != nil && container.ReadinessProbe != nil && container.LivenessProbe != nil,
		"no token of the cluster": !*pod.Spec.AutomountServiceAccountToken,
	} {
		if !ok {
			t.Errorf("violated: %s", rule)
		}
	}
	checkProbes(t, container, service)
	checkSecrets(t, container)
	checkMemory(t, container)
	checkShutdown(t, container, time.Duration(*pod.Spec.TerminationGracePeriodSeconds)*time.Second)
}

// checkShutdown checks that a replica serves for a while after SIGTERM, and is not killed
// before it has drained its requests.
func checkShutdown(t *testing.T, container corev1.Container, grace time.Duration) {
	t.Helper()
	var delay, timeout time.Duration
	for _, variable := range container.Env {
		switch variable.Name {
		case "SHUTDOWN_DELAY":
			delay, _ = time.ParseDuration(variable.Value) // 0 is detected below
		case "SHUTDOWN_TIMEOUT":
			timeout, _ = time.ParseDuration(variable.Value)
		}
	}
	if delay < time.Second || timeout == 0 || grace < delay+timeout+5*time.Second {
		t.Errorf("SHUTDOWN_DELAY is %v, SHUTDOWN_TIMEOUT %v, and the grace period %v", delay, timeout, grace)
	}
}

// checkProbes checks that probes and service go to the port that is listened on.
func checkProbes(t *testing.T, container corev1.Container, service corev1.Service) {
	t.Helper()
	port, admin := container.Ports[0], container.Ports[1]
	for probe, path := range map[*corev1.Probe]string{
		container.StartupProbe: "/livez", container.ReadinessProbe: "/readyz", container.LivenessProbe: "/livez",
	} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != admin.Name {
			t.Errorf("a probe requests %s at %s, want %s", probe.HTTPGet.Path, probe.HTTPGet.Port.String(), path)
		}
	}
	for _, variable := range container.Env {
		if variable.Name == "ADMIN_ADDR" && variable.Value != fmt.Sprintf(":%d", admin.ContainerPort) {
			t.Errorf("the admin listener is at %s, its port is %+v", variable.Value, admin)
		}
	}
	if service.Spec.Ports[0].TargetPort.StrVal != port.Name || port.ContainerPort != 8080 {
		t.Errorf("the service has the target %s, the port is %+v", service.Spec.Ports[0].TargetPort.String(), port)
	}
}

// checkSecrets checks that each variable is an option of the program, and that secret
// values come from the Secret.
func checkSecrets(t *testing.T, container corev1.Container) {
	t.Helper()
	names := options(t)
	for _, variable := range container.Env {
		if !slices.Contains(names, variable.Name) && variable.Name != "GOMEMLIMIT" { // which Go reads itself
			t.Errorf("%s is not an option", variable.Name)
		}
		switch variable.Name {
		case "STORAGE_URL":
			if variable.Value != "" {
				t.Errorf("%s is %s, want it in a file", variable.Name, variable.Value)
			}
		case "STORAGE_URL_FILE", "JWT_SECRET_FILE":
			if mount := container.VolumeMounts[0]; mount.Name != "secret" || !strings.HasPrefix(variable.Value, mount.MountPath+"/") {
				t.Errorf("%s is %s, want it from the Secret", variable.Name, variable.Value)
			}
		}
	}
}

// checkMemory checks that the server's maximum memory, as in docs/operations.md, is within
// the container's limit, and that GOMEMLIMIT is set accordingly.
func checkMemory(t *testing.T, container corev1.Container) {
	t.Helper()
	connections, goLimit := 0, ""
	for _, variable := range container.Env {
		switch variable.Name {
		case "MAX_CONNECTIONS":
			connections, _ = strconv.Atoi(variable.Value) // 0 is detected below
		case "GOMEMLIMIT":
			goLimit = variable.Value
		}
	}
	const rest = 64 + 192 + 256 + 40 // MiB, with the default of MAX_BODY_BYTES
	limit := container.Resources.Limits.Memory().Value() >> 20
	if needs := int64(rest + connections/16); connections == 0 || needs > limit*9/10 {
		t.Errorf("with MAX_CONNECTIONS=%d the server may need %d MiB, the container has %d MiB", connections, needs, limit)
	}
	if want := fmt.Sprint(limit*9/10, "MiB"); goLimit != want {
		t.Errorf("GOMEMLIMIT is %q, want nine tenths of the limit, %s", goLimit, want)
	}
}

// options returns the names of all options, from .env.example.
func options(t *testing.T) (names []string) {
	t.Helper()
	for line := range strings.Lines(string(tools.ProjectFile(t, ".env.example"))) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "#"), "="); ok && !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	return names
}

// TestCompose reads the compose file as Compose does, with its schema.
func TestCompose(t *testing.T) {
	t.Parallel()
	const file = "docs/deploy/compose.yaml"
	path := filepath.Join(tools.Project(t), file)
	project, err := loader.LoadWithContext(t.Context(), compose.ConfigDetails{
		WorkingDir:  filepath.Dir(path),
		ConfigFiles: []compose.ConfigFile{{Filename: path, Content: tools.ProjectFile(t, file)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	service := project.Services["plantstore"]
	if *service.Deploy.Replicas != 3 || !service.ReadOnly || service.User != "65532:65532" || !slices.Equal(service.CapDrop, []string{"ALL"}) {
		t.Errorf("the service is not three replicas without privileges: %+v", service)
	}
	if url, file := *service.Environment["STORAGE_URL"], *service.Environment["STORAGE_URL_FILE"]; url != "" || file != "/run/secrets/storage-url" {
		t.Errorf("STORAGE_URL is %s, its file is %s", url, file)
	}
	names := options(t)
	for name := range service.Environment {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not an option", name)
		}
	}
	for _, port := range service.Ports {
		if port.HostIP != "127.0.0.1" || port.Target != 8080 {
			t.Errorf("the port is %+v", port)
		}
	}
}
