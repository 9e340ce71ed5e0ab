package apidocs_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/apidocs"
	"plantstore/internal/must"
	"plantstore/models"
)

// An outline has the parts of the description that the tests check. It can be read from
// YAML and JSON.
type outline struct {
	OpenAPI string `yaml:"openapi"`
	Info    struct {
		Title       string            `yaml:"title"`
		Summary     string            `yaml:"summary"`
		Version     string            `yaml:"version"`
		Description string            `yaml:"description"`
		License     map[string]string `yaml:"license"`
	} `yaml:"info"`
	Servers    []server                        `yaml:"servers"`
	Security   []map[string][]string           `yaml:"security"`
	Paths      map[string]map[string]operation `yaml:"paths"`
	Components struct {
		SecuritySchemes map[string]map[string]string `yaml:"securitySchemes"`
		Schemas         struct {
			Error struct {
				Properties struct {
					Error struct {
						Enum         []models.Code     `yaml:"enum"`
						Names        []string          `yaml:"x-enum-varnames"`
						Descriptions map[string]string `yaml:"x-enumDescriptions"`
					} `yaml:"error"`
				} `yaml:"properties"`
			} `yaml:"Error"`
			Plant    schema `yaml:"Plant"`
			NewPlant struct {
				AllOf []schema `yaml:"allOf"`
			} `yaml:"NewPlant"`
		} `yaml:"schemas"`
	} `yaml:"components"`
}

// A schema is the part of a schema of a plant that is compared with the code.
type schema struct {
	Required   []string       `yaml:"required"`
	Properties map[string]any `yaml:"properties"`
}

type server struct {
	URL string `yaml:"url"`
}

type operation struct {
	OperationID string `yaml:"operationId"`
	RequestBody struct {
		Required bool                 `yaml:"required"`
		Content  map[string]mediaType `yaml:"content"`
	} `yaml:"requestBody"`
	Responses map[string]struct {
		Description string               `yaml:"description"`
		Headers     map[string]any       `yaml:"headers"`
		Content     map[string]mediaType `yaml:"content"`
	} `yaml:"responses"`
}

type mediaType struct {
	Schema   map[string]any     `yaml:"schema"`
	Examples map[string]example `yaml:"examples"`
}

type example struct {
	Summary string         `yaml:"summary"`
	Value   map[string]any `yaml:"value"`
}

func parse(t *testing.T, document *apidocs.Document) outline {
	t.Helper()
	var o outline
	must.Do(t, yaml.Unmarshal(document.Bytes(), &o))
	return o
}

// TestTheOnlyOperationIsCreatePlant checks the operation, and the parts of the specification that
// clients rely on.
func TestTheOnlyOperationIsCreatePlant(t *testing.T) {
	t.Parallel()
	o := parse(t, describe(t, defaultURL).JSON)
	got := map[string]any{
		"openapi": o.OpenAPI, "title": o.Info.Title, "version": o.Info.Version,
		"license": o.Info.License, "security": o.Security, "bearerAuth": o.Components.SecuritySchemes["bearerAuth"]["scheme"],
	}
	for path, methods := range o.Paths {
		for method, op := range methods {
			got[method+" "+path] = op.OperationID
		}
	}
	for status, response := range createPlant(t).Responses {
		got[status] = append([]string{response.Description}, slices.Sorted(maps.Keys(response.Headers))...)
		if schema := response.Content["application/json"].Schema; len(response.Content) != 1 || schema == nil {
			t.Errorf("%s: the content is not just application/json", status)
		}
	}
	want := map[string]any{
		"openapi": "3.1.0", "title": "OpenAPI Plant Store", "version": "1.0.0",
		"license":  map[string]string{"name": "MIT", "identifier": "MIT"},
		"security": []map[string][]string{{"bearerAuth": {}}}, "bearerAuth": "bearer",
		"post /plants": "createPlant",
		"200":          []string{"plant response", "X-Content-Type-Options", "X-Request-Id"},
		"400":          []string{"unexpected error", "Accept-Encoding", "Allow", "Retry-After", "WWW-Authenticate", "X-Content-Type-Options", "X-Request-Id"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func createPlant(t *testing.T) operation {
	t.Helper()
	return parse(t, describe(t, defaultURL).YAML).Paths["/plants"]["post"]
}

// TestErrorCodes checks that the values of error are in five places of the description; each is
// compared with models.Codes.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	o := parse(t, describe(t, defaultURL).YAML)
	var codes []models.Code
	var names []string
	var table strings.Builder
	meanings := map[string]string{}
	for _, c := range models.Codes() {
		codes = append(codes, c.Code)
		names = append(names, constant(c.Code))
		meanings[fmt.Sprint(c.Code)] = c.Meaning
		fmt.Fprintf(&table, "| %d | %s |\n", c.Code, c.Meaning)
	}
	schema := o.Components.Schemas.Error.Properties.Error
	if diff := cmp.Diff(codes, schema.Enum); diff != "" {
		t.Errorf("enum (-models +description):\n%s", diff)
	}
	if diff := cmp.Diff(names, schema.Names); diff != "" {
		t.Errorf("x-enum-varnames (-HTTP +description):\n%s", diff)
	}
	if diff := cmp.Diff(meanings, schema.Descriptions); diff != "" {
		t.Errorf("x-enumDescriptions (-models +description):\n%s", diff)
	}
	if _, rows, _ := strings.Cut(o.Info.Description, "| ------- | ------- |\n"); !strings.HasPrefix(rows, table.String()+"\n") {
		t.Errorf("the table in info.description is not\n%s", table.String())
	}
	exemplified := map[models.Code]bool{}
	for _, e := range createPlant(t).Responses["400"].Content["application/json"].Examples {
		exemplified[decodeError(t, e).Code] = true
	}
	if diff := cmp.Diff(codes, slices.Sorted(maps.Keys(exemplified))); diff != "" {
		t.Errorf("codes with an example (-models +description):\n%s", diff)
	}
}

// constant returns the name of a code in the IANA registry of status codes, without spaces.
// Two names of net/http are older.
func constant(code models.Code) string {
	switch code {
	case models.CodeContentTooLarge:
		return "ContentTooLarge"
	case models.CodeUnprocessable:
		return "UnprocessableContent"
	default:
		return strings.ReplaceAll(http.StatusText(int(code)), " ", "")
	}
}

// TestExamples checks the examples of the request with the server's own rules, and that those of
// the responses have exactly the fields of a response.
func TestExamples(t *testing.T) {
	t.Parallel()
	operation := createPlant(t)
	examples := operation.RequestBody.Content["application/json"].Examples
	if !operation.RequestBody.Required || len(examples) < 5 {
		t.Errorf("required: %t; %d examples", operation.RequestBody.Required, len(examples))
	}
	for name, e := range examples {
		var plant models.NewPlant
		if err := models.NewDecoder(1<<20).Decode(encode(t, e), &plant); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, e := range operation.Responses["200"].Content["application/json"].Examples {
		var plant models.Plant
		if decodeExactly(t, e, &plant); plant.Name == "" {
			t.Errorf("%s: has no name", name)
		}
	}
	for name, e := range operation.Responses["400"].Content["application/json"].Examples {
		if got := decodeError(t, e); got.Message == "" || !strings.HasPrefix(e.Summary, fmt.Sprintf("%d, ", got.Code)) {
			t.Errorf("%s: the summary %q does not start with its error %d, or there is no message", name, e.Summary, got.Code)
		}
	}
}

func decodeError(t *testing.T, e example) models.Error {
	t.Helper()
	var got models.Error
	decodeExactly(t, e, &got)
	return got
}

// decodeExactly reads an example into v, which must have all its properties.
func decodeExactly(t *testing.T, e example, v any) {
	t.Helper()
	if err := json.Unmarshal(encode(t, e), v, json.RejectUnknownMembers(true)); err != nil {
		t.Errorf("%s: %v", e.Summary, err)
	}
}

func encode(t *testing.T, e example) jsontext.Value {
	t.Helper()
	return must.Get(json.Marshal(e.Value))(t)
}

// fieldsOf returns the JSON names of the fields of a type, and of those that are always there.
func fieldsOf(t reflect.Type) (all, required []string) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue // not exported
		}
		all = append(all, name)
		if slices.Contains(strings.Split(field.Tag.Get("validate"), ","), "required") || t == reflect.TypeFor[models.Plant]() && options == "" {
			required = append(required, name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return all, required
}

// TestFieldsOfPlants checks that the description and the collection for Postman have the fields of the
// structs.
func TestFieldsOfPlants(t *testing.T) {
	t.Parallel()
	schemas := parse(t, describe(t, defaultURL).JSON).Components.Schemas
	created := schema{slices.Clone(schemas.Plant.Required), maps.Clone(schemas.Plant.Properties)}
	for _, part := range schemas.NewPlant.AllOf {
		created.Required = append(created.Required, part.Required...)
		maps.Copy(created.Properties, part.Properties)
	}
	for goType, s := range map[reflect.Type]schema{reflect.TypeFor[models.Plant](): schemas.Plant, reflect.TypeFor[models.NewPlant](): created} {
		all, required := fieldsOf(goType)
		if diff := cmp.Diff(all, slices.Sorted(maps.Keys(s.Properties))); diff != "" {
			t.Errorf("the properties of %s (-code +description):\n%s", goType.Name(), diff)
		}
		if diff := cmp.Diff(required, slices.Sorted(slices.Values(s.Required))); diff != "" {
			t.Errorf("the required properties of %s (-code +description):\n%s", goType.Name(), diff)
		}
	}
	collection := must.Get(os.ReadFile("../../docs/postman/plantstore.postman_collection.json"))(t)
	all, _ := fieldsOf(reflect.TypeFor[models.NewPlant]())
	for _, name := range all {
		if !strings.Contains(string(collection), `\"`+name+`\":`) {
			t.Errorf("no request in the collection has the property %s", name)
		}
	}
}
