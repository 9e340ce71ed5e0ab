package postgres

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// refused is the syntax that one of the engines which speak PostgreSQL's protocol
// documents as not supported, or as different, and which this package could be
// tempted to use.
func refused() map[string]string {
	return map[string]string{
		`(?i)\bLISTEN\b|\bNOTIFY\b`: "CockroachDB and YugabyteDB have none",
		`(?i)\bMERGE\b`:             "CockroachDB has none",
		`(?i)\bCREATE\s+(OR\s+REPLACE\s+)?(FUNCTION|TRIGGER|RULE|EXTENSION|DOMAIN|TEMP)`: "supported by some only",
		`(?i)\bSERIAL\b|\bGENERATED\b|\bSEQUENCE`:                                        "ids are given by the client; sequences are slow where data are sharded",
		`(?i)\bctid\b|\bxmin\b|\boid\b`:                                                  "system columns are PostgreSQL's own",
		`(?i)\bCOPY\b`:                                                                   "differs in its options",
		`(?i)\bLOCK\s+TABLE\b`:                                                           "CockroachDB has none",
		`(?i)\bSAVEPOINT\b`:                                                              "restarts a transaction in CockroachDB",
		`(?i)\bDEFERRABLE\b|\bEXCLUDE\b`:                                                 "CockroachDB has none",
		`(?i)\bTABLESPACE\b|\bINHERITS\b|\bUNLOGGED\b`:                                   "PostgreSQL's own",
		`(?i)\bON\s+CONFLICT\s+ON\s+CONSTRAINT\b`:                                        "CockroachDB took it late",
		`(?i)\bON\s+CONFLICT\s*(\(id\))?\s*DO\s+UPDATE\b`:                                "a plant stays as it was (C5.27)",
		`(?i)\bINSERT\b[^;]*\bSELECT\b`:                                                  "Citus moves the rows through its coordinator",
		`(?i)\bWITH\b`:                                                                   "Citus restricts statements that change data in WITH",
		`(?i)\bFOR\s+(UPDATE|SHARE)\b`:                                                   "Citus takes it for one shard only",
		`(?i)\bpg_(try_)?advisory_lock\b`:                                                "a session lock outlives the connection that a pooler lends",
		`(?i)\bDELETE\b|\bUPDATE\b|\bTRUNCATE\b|\bDROP\b`:                                "no plant is ever changed or taken away",
	}
}

// TestStatements checks each statement of the package for forbidden syntax.
func TestStatements(t *testing.T) {
	t.Parallel()
	list := append(statements(t), insertSQL(3), selectFrom)
	if len(list) < 8 {
		t.Fatalf("these are not all statements: %q", list)
	}
	for _, sql := range list {
		for pattern, why := range refused() {
			if regexp.MustCompile(pattern).MatchString(sql) {
				t.Errorf("%s\nhas %s: %s", sql, pattern, why)
			}
		}
	}
}

// statements returns the strings in the source that look like SQL.
func statements(t *testing.T) (list []string) {
	t.Helper()
	keyword := regexp.MustCompile(`^\s*[A-Z]{4,} [A-Z a-z(*]`)
	files := token.NewFileSet()
	for _, name := range []string{"sql.go", "insert.go", "open.go", "postgres.go"} {
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && keyword.MatchString(text) {
				list = append(list, text)
			}
			return true
		})
	}
	return list
}

func TestInsertSQL(t *testing.T) {
	t.Parallel()
	want := "INSERT INTO plants (request, id, name, tag) VALUES ($1,$2,$3,$4),($1,$5,$6,$7) ON CONFLICT (id) DO NOTHING RETURNING id"
	if got := insertSQL(2); got != want {
		t.Errorf("insertSQL(2) = %s, want %s", got, want)
	}
	tag := ""
	batch := []storage.Item{{Record: storage.Record{ID: 1, Plant: models.Plant{Name: "\x00"}}}, {Record: storage.Record{ID: 2, Plant: models.Plant{Tag: &tag}}}}
	arguments := insertArguments(storage.CommitToken{1}, batch)
	if highest := "$" + strconv.Itoa(len(arguments)); !strings.Contains(insertSQL(len(batch)), highest+")") {
		t.Errorf("%d arguments for %s", len(arguments), insertSQL(len(batch)))
	}
	if arguments[3] != nil || arguments[6] == nil {
		t.Errorf("no tag is %v, an empty one %v", arguments[3], arguments[6])
	}
	if most := 1 + 3*batchPlants; most > 65535 {
		t.Errorf("a batch needs %d parameters", most)
	}
}
