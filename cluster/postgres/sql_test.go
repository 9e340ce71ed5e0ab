package postgres

import (
	"strconv"
	"strings"
	"testing"

	"plantstore/cluster/internal/retry"
	"plantstore/models"
	"plantstore/storage"
)

func TestInsertSQL(t *testing.T) {
	t.Parallel()
	want := "INSERT INTO plants (request, id, name, tag) VALUES ($1,$2,$3,$4),($1,$5,$6,$7) ON CONFLICT (id) DO NOTHING RETURNING id"
	if got := insertSQL(2); got != want {
		t.Errorf("insertSQL(2) = %s, want %s", got, want)
	}
	tag := ""
	batch := []storage.Item{{Record: storage.Record{ID: 1, Plant: models.Plant{Name: "\x00"}}}, {Record: storage.Record{ID: 2, Plant: models.Plant{Tag: &tag}}}}
	arguments := insertArguments(retry.Token{1}, batch)
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
