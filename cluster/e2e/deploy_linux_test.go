package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestKubernetes decodes the manifests as strictly as Kubernetes: an unknown or duplicate
// field is a failure. Then it checks the fields that matter.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	var deployment appsv1.Deployment
	var service corev1.Service
	var budget policyv1.PodDisruptionBudget
	decode(t, "docs/deploy/kubernetes.yaml", &deployment, &service, &budget)
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	for rule, ok := range map[string]bool{
		"of the kinds that were read":       deployment.Kind == "Deployment" && service.Kind == "Service" && budget.Kind == "PodDisruptionBudget",
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
	checkShutdown(t, container, time.Duration(*pod.Spec.TerminationGracePeriodSeconds)*time.Second)
}

// decode decodes the documents of a file.
func decode(t *testing.T, file string, objects ...any) {
	t.Helper()
	documents := strings.Split(string(tools.ProjectFile(t, file)), "\n---\n")
	if len(documents) != len(objects) {
		t.Fatalf("%s has %d documents, want %d", file, len(documents), len(objects))
	}
	for i, object := range objects {
		must.Do(t, yaml.UnmarshalStrict([]byte(documents[i]), object))
	}
}

// TestKubernetesSingle checks that the only replica on an embedded store is stopped before the next one
// starts, and that it has the volume of the database.
func TestKubernetesSingle(t *testing.T) {
	t.Parallel()
	var deployment appsv1.Deployment
	var volume corev1.PersistentVolumeClaim
	var service corev1.Service
	decode(t, "docs/deploy/kubernetes-single.yaml", &deployment, &volume, &service)
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	if *deployment.Spec.Replicas != 1 || deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType ||
		fmt.Sprint(pod.Labels) != fmt.Sprint(deployment.Spec.Selector.MatchLabels) || fmt.Sprint(pod.Labels) != fmt.Sprint(service.Spec.Selector) {
		t.Errorf("it is not one replica that is recreated, behind the service: %+v", deployment.Spec)
	}
	if mount := container.VolumeMounts[0]; mount.MountPath != "/data" || mount.Name != pod.Spec.Volumes[0].Name ||
		pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != volume.Name || *pod.Spec.SecurityContext.FSGroup != 65532 {
		t.Errorf("the volume is not %s of 65532 at /data: %+v, %+v", volume.Name, mount, pod.Spec)
	}
	checkProbes(t, container, service)
	checkSecrets(t, container)
}

// checkShutdown checks that a replica serves for a while after SIGTERM, and is not killed
// before it has drained its requests.
func checkShutdown(t *testing.T, container corev1.Container, grace time.Duration) {
	t.Helper()
	durations := map[string]time.Duration{}
	for _, variable := range container.Env {
		durations[variable.Name], _ = time.ParseDuration(variable.Value) // 0 is detected below
	}
	delay, timeout := durations["SHUTDOWN_DELAY"], durations["SHUTDOWN_TIMEOUT"]
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

// options returns the names of all options but PORT.
func options(t *testing.T) (names []string) {
	t.Helper()
	for line := range strings.Lines(plantstore.Run(t, t.TempDir(), "config")) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	return names
}

// TestCompose reads the compose file as Compose does, with its schema, and creates the secrets as
// described at its top: they must belong to the user of the container, and no other user may
// read them.
func TestCompose(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "give files away")
	text := tools.ProjectFile(t, "docs/deploy/compose.yaml")
	clone, commands := t.TempDir(), "set -eu; umask 077; mkdir -p data docs/deploy; cd docs/deploy\n"
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "#   "); ok && !strings.HasPrefix(command, "docker ") {
			commands += strings.TrimPrefix(command, "sudo ")
		}
	}
	process.Run(t, "/bin/sh", "-c", "cd "+clone+"; "+commands)
	project, err := loader.LoadWithContext(t.Context(), compose.ConfigDetails{
		WorkingDir:  filepath.Join(clone, "docs", "deploy"),
		ConfigFiles: []compose.ConfigFile{{Filename: "compose.yaml", Content: text}},
	})
	must.Do(t, err)
	service := project.Services["plantstore"]
	if *service.Deploy.Replicas != 3 || !service.ReadOnly || service.User != "65532:65532" || !slices.Equal(service.CapDrop, []string{"ALL"}) {
		t.Errorf("the service is not three replicas without privileges: %+v", service)
	}
	names := options(t)
	for name := range service.Environment {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not an option", name)
		}
	}
	if port := service.Ports[0]; port.HostIP != "127.0.0.1" || port.Target != 8080 {
		t.Errorf("the port is %+v", port)
	}
	for name, owner := range map[string]uint32{"jwt-secret": 65532, "storage-url": 65532, "postgres-password": 0} {
		info := must.Get(os.Stat(project.Secrets[name].File))(t)
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != owner || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, and belongs to %+v, want mode 0600 and user %d", name, info.Mode(), info.Sys(), owner)
		}
	}
}
