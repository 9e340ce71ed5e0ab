package admin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// deployFile returns a file of docs/deploy.
func deployFile(t *testing.T, name string) []byte {
	t.Helper()
	return tools.ProjectFile(t, "docs/deploy/"+name)
}

// A series is the labels of a series of a real server, with its name as __name__.
type series map[string]string

// everySeries returns all series of a server with TLS and an issuer, including the labels that
// Prometheus adds.
func everySeries(t *testing.T) []series {
	t.Helper()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"keys":[]}`) }))
	t.Cleanup(issuer.Close)
	s := newSite(t, plantstore.Options{TLS: authority.Client(), Env: []string{
		"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key, "JWT_JWKS_URL=" + issuer.URL, "JWT_SECRET=a secret of the tests, long enough for HS256",
	}})
	s.create(`{"id":1,"name":"Monstera"}`)
	list := []series{{"__name__": "up", "job": "plantstore", "instance": "x"}} // series of Prometheus itself
	label := regexp.MustCompile(`(\w+)="([^"]*)"`)
	for text := range s.Metrics() {
		name, labels, _ := strings.Cut(text, "{")
		one := series{"__name__": name, "job": "plantstore", "instance": "x"}
		for _, pair := range label.FindAllStringSubmatch(labels, -1) {
			one[pair[1]] = pair[2]
		}
		list = append(list, one)
	}
	return list
}

// has reports whether a filter matches the series.
func (s series) has(f metricsql.LabelFilter) bool {
	equal := s[f.Label] == f.Value
	if f.IsRegexp {
		equal = regexp.MustCompile("^(?:" + f.Value + ")$").MatchString(s[f.Label])
	}
	return equal != f.IsNegative
}

// functions are the PromQL functions that the files may use; the parser accepts more.
func functions() []string {
	return []string{
		"changes", "histogram_quantile", "increase", "predict_linear", "rate", "time",
	}
}

// checkExpression checks that an expression is valid PromQL and names only existing series.
func checkExpression(t *testing.T, where, text string, actual []series) {
	t.Helper()
	text = strings.NewReplacer("$__rate_interval", "5m", `"$job"`, `"plantstore"`, `"$instance"`, `".*"`).Replace(text)
	expression, err := metricsql.Parse(text)
	if err != nil {
		t.Errorf("%s: %s: %v", where, text, err)
		return
	}
	selects := 0
	metricsql.VisitAll(expression, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.FuncExpr:
			if !slices.Contains(functions(), e.Name) {
				t.Errorf("%s: %s: the function %s is none of %q", where, text, e.Name, functions())
			}
		case *metricsql.MetricExpr:
			selects++
			for _, filters := range e.LabelFilterss {
				if !slices.ContainsFunc(actual, func(s series) bool {
					return !slices.ContainsFunc(filters, func(f metricsql.LabelFilter) bool { return !s.has(f) })
				}) {
					t.Errorf("%s: %s: no series matches %s", where, text, e.AppendString(nil))
				}
			}
		}
	})
	if selects == 0 {
		t.Errorf("%s: %s selects no series", where, text)
	}
}

// A ruleFile is a file of Prometheus rules.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// TestDeployNamesRealMetrics checks that the alert rules and the dashboard name only metrics
// that a real server has.
func TestDeployNamesRealMetrics(t *testing.T) {
	t.Parallel()
	actual := everySeries(t)
	t.Run("alerts", func(t *testing.T) {
		t.Parallel()
		checkAlerts(t, actual)
	})
	t.Run("dashboard", func(t *testing.T) {
		t.Parallel()
		checkDashboard(t, actual)
	})
}

func checkAlerts(t *testing.T, actual []series) {
	var rules ruleFile
	decoder := yaml.NewDecoder(bytes.NewReader(deployFile(t, "alerts.yaml")))
	decoder.KnownFields(true)
	must.Do(t, decoder.Decode(&rules))
	n := 0
	sections := strings.ToLower(strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(string(tools.ProjectFile(t, "docs/troubleshooting.md"))))
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			n++
			checkExpression(t, rule.Alert, rule.Expr, actual)
			if rule.For != "" {
				if _, err := time.ParseDuration(rule.For); err != nil {
					t.Errorf("%s: %v", rule.Alert, err)
				}
			}
			if severity := rule.Labels["severity"]; severity != "page" && severity != "ticket" {
				t.Errorf("%s: the severity is %q", rule.Alert, severity)
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s: the summary or the description is missing", rule.Alert)
			}
			if section, found := strings.CutPrefix(rule.Annotations["runbook"], "docs/troubleshooting.md#"); !found || !strings.Contains(sections, "\n##-"+section+"\n") {
				t.Errorf("%s: there is no section %q", rule.Alert, rule.Annotations["runbook"])
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d rules were found", n)
	}
}

// TestPrometheusConfiguration checks that Prometheus scrapes the default admin address,
// under the job name that the rules use.
func TestPrometheusConfiguration(t *testing.T) {
	t.Parallel()
	var config struct {
		Global        map[string]string
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string                       `yaml:"job_name"`
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(deployFile(t, "prometheus.yaml")))
	decoder.KnownFields(true)
	must.Do(t, decoder.Decode(&config))
	if len(config.RuleFiles) != 1 || config.RuleFiles[0] != "alerts.yaml" {
		t.Errorf("the rules are %q", config.RuleFiles)
	}
	scrape := config.ScrapeConfigs[0]
	out := must.Get(plantstore.Command(t, t.TempDir(), []string{"ADMIN_ADDR="}, "config").Output())(t)
	target := scrape.StaticConfigs[0].Targets[0]
	if scrape.JobName != "plantstore" || !strings.Contains(string(out), "ADMIN_ADDR="+target+"\n") {
		t.Errorf("the job %s scrapes %s; the server has\n%s", scrape.JobName, target, out)
	}
}

func checkDashboard(t *testing.T, actual []series) {
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
		Templating struct {
			List []struct {
				Name  string
				Query json.RawMessage
			}
		}
	}
	must.Do(t, json.Unmarshal(deployFile(t, "dashboard.json"), &dashboard))
	for _, panel := range dashboard.Panels {
		if (len(panel.Targets) == 0) != (panel.Type == "row") {
			t.Errorf("%s: it has no query, or is a row with one", panel.Title)
		}
		for _, target := range panel.Targets {
			checkExpression(t, panel.Title, target.Expr, actual)
		}
	}
	for _, variable := range dashboard.Templating.List[1:] { // the first is the data source
		var query struct{ Query string }
		must.Do(t, json.Unmarshal(variable.Query, &query))
		// Grafana's label_values: the values of a label.
		selector := regexp.MustCompile(`^label_values\((.*), \w+\)$`).FindStringSubmatch(query.Query)
		if selector == nil {
			t.Fatalf("$%s: it queries %s", variable.Name, query.Query)
		}
		checkExpression(t, "$"+variable.Name, selector[1], actual)
	}
}
