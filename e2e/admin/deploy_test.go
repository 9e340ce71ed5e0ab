package admin

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
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

// decode decodes a YAML file of docs/deploy, which may have no other fields than v.
func decode(t *testing.T, name string, v any) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(tools.ProjectFile(t, "docs/deploy/"+name)))
	decoder.KnownFields(true)
	must.Do(t, decoder.Decode(v))
}

// A series is the labels of a series of a real server, with its name as __name__.
type series map[string]string

// everySeries returns all series of a server with TLS and an issuer, including up and the
// labels, which Prometheus adds.
func everySeries(t *testing.T) []series {
	t.Helper()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"keys":[]}`) }))
	t.Cleanup(issuer.Close)
	s := newSite(t, plantstore.Options{TLS: authority.Client(), Env: []string{
		"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key, "JWT_JWKS_URL=" + issuer.URL, "JWT_SECRET=a secret of the tests, long enough for HS256",
	}})
	s.Post(s.token, `{"id":1,"name":"Monstera"}`)
	var list []series
	for _, text := range slices.AppendSeq([]string{"up"}, maps.Keys(s.Metrics())) {
		one := series{"job": "plantstore", "instance": "x"}
		for _, label := range must.Get(metricsql.Parse(text))(t).(*metricsql.MetricExpr).LabelFilterss[0] {
			one[label.Label] = label.Value
		}
		list = append(list, one)
	}
	return list
}

// matches reports whether a filter matches the series.
func (s series) matches(f metricsql.LabelFilter) bool {
	equal := s[f.Label] == f.Value
	if f.IsRegexp {
		equal = regexp.MustCompile("^(?:" + f.Value + ")$").MatchString(s[f.Label])
	}
	return equal != f.IsNegative
}

// TestDeployNamesRealMetrics checks that the alert rules and the dashboard are valid PromQL and name only
// metrics that a real server has. The parser accepts more functions than PromQL.
func TestDeployNamesRealMetrics(t *testing.T) {
	t.Parallel()
	functions := []string{"changes", "histogram_quantile", "increase", "predict_linear", "rate", "time"}
	variables := strings.NewReplacer("$__rate_interval", "5m", `"$job"`, `"plantstore"`, `"$instance"`, `".*"`)
	actual := everySeries(t)
	for _, text := range append(alerts(t), queries(t)...) {
		expression, err := metricsql.Parse(variables.Replace(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		selects := 0
		metricsql.VisitAll(expression, func(e metricsql.Expr) {
			switch e := e.(type) {
			case *metricsql.FuncExpr:
				if !slices.Contains(functions, e.Name) {
					t.Errorf("%s: the function %s is none of %q", text, e.Name, functions)
				}
			case *metricsql.MetricExpr:
				selects++
				for _, filters := range e.LabelFilterss {
					if !slices.ContainsFunc(actual, func(s series) bool {
						return !slices.ContainsFunc(filters, func(f metricsql.LabelFilter) bool { return !s.matches(f) })
					}) {
						t.Errorf("%s: no series matches %s", text, e.AppendString(nil))
					}
				}
			}
		})
		if selects == 0 {
			t.Errorf("%s selects no series", text)
		}
	}
}

// alerts returns the expressions of the alert rules, each of which must be complete and name a section
// of the troubleshooting guide.
func alerts(t *testing.T) (expressions []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr         string
				For                 time.Duration
				Labels, Annotations map[string]string
			}
		}
	}
	decode(t, "alerts.yaml", &rules)
	sections := strings.ToLower(strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(string(tools.ProjectFile(t, "docs/troubleshooting.md"))))
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			expressions = append(expressions, rule.Expr)
			section, found := strings.CutPrefix(rule.Annotations["runbook"], "docs/troubleshooting.md#")
			if !found || !strings.Contains(sections, "\n##-"+section+"\n") {
				t.Errorf("%s: there is no section %q", rule.Alert, rule.Annotations["runbook"])
			}
			if !slices.Contains([]string{"page", "ticket"}, rule.Labels["severity"]) ||
				rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s: labels %q, annotations %q", rule.Alert, rule.Labels, rule.Annotations)
			}
		}
	}
	if len(expressions) < 10 {
		t.Errorf("only %d rules were found", len(expressions))
	}
	return expressions
}

// queries returns the expressions of the dashboard: of its panels, and those that Grafana's label_values
// lists the values of a label of.
func queries(t *testing.T) (expressions []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Query json.RawMessage }
		}
	}
	must.Do(t, json.Unmarshal(tools.ProjectFile(t, "docs/deploy/dashboard.json"), &dashboard))
	for _, panel := range dashboard.Panels {
		if (len(panel.Targets) == 0) != (panel.Type == "row") {
			t.Errorf("%s: it has no query, or is a row with one", panel.Title)
		}
		for _, target := range panel.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List[1:] { // the first is the data source
		var query struct{ Query string }
		must.Do(t, json.Unmarshal(variable.Query, &query))
		selector := regexp.MustCompile(`^label_values\((.*), \w+\)$`).FindStringSubmatch(query.Query)
		if selector == nil {
			t.Fatalf("a variable queries %s", query.Query)
		}
		expressions = append(expressions, selector[1])
	}
	return expressions
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
	decode(t, "prometheus.yaml", &config)
	scrape, out := config.ScrapeConfigs[0], must.Get(plantstore.Command(t, t.TempDir(), []string{"ADMIN_ADDR="}, "config").Output())(t)
	target := scrape.StaticConfigs[0].Targets[0]
	if !slices.Equal(config.RuleFiles, []string{"alerts.yaml"}) || scrape.JobName != "plantstore" || !strings.Contains(string(out), "ADMIN_ADDR="+target+"\n") {
		t.Errorf("the configuration is %+v; the server has\n%s", config, out)
	}
}
