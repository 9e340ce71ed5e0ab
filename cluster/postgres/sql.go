package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"plantstore/cluster/internal/retry"
	"plantstore/storage"
)

// The statements use only features that PostgreSQL, CockroachDB, YugabyteDB and Citus
// document as supported. Names and tags are bytea, since text can't
// contain U+0000 (C2.14). The column request has the [retry.Token].
const (
	createTable = `CREATE TABLE IF NOT EXISTS plants (
	id bigint PRIMARY KEY,
	name bytea NOT NULL,
	tag bytea,
	request uuid NOT NULL
)`
	selectOne   = `SELECT id, name, tag, request FROM plants WHERE id = $1`
	selectTaken = `SELECT id, name, tag, request FROM plants WHERE id = ANY($1)`

	selectColumns = `SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = 'plants' ORDER BY column_name`
	selectSettings = `SELECT coalesce(current_setting('fsync', true), ''), coalesce(current_setting('synchronous_commit', true), '')`
)

// selectFrom and selectDescending select a page.
//
//nolint:gochecknoglobals // constants
var (
	selectFrom       = fmt.Sprintf(`SELECT id, name, tag, request FROM plants WHERE id >= $1 ORDER BY id LIMIT %d`, pageRecords)
	selectDescending = fmt.Sprintf(`SELECT id, name, tag, request FROM plants WHERE id <= $1 ORDER BY id DESC LIMIT %d`, pageRecords)
)

// columns are the columns of the table, in the form of [Engine.columns].
const columns = "id bigint, name bytea, request uuid, tag bytea"

// insertSQL returns the statement that inserts n plants. Its parameters are the commit
// token, and the id, name and tag of each plant.
func insertSQL(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("($1,$%d,$%d,$%d)", 3*i+2, 3*i+3, 3*i+4)
	}
	return "INSERT INTO plants (request, id, name, tag) VALUES " + strings.Join(rows, ",") + " ON CONFLICT (id) DO NOTHING RETURNING id"
}

// insertArguments returns the arguments of insertSQL.
func insertArguments(token retry.Token, batch []storage.Item) []any {
	arguments := make([]any, 0, 1+3*len(batch))
	arguments = append(arguments, pgtype.UUID{Bytes: token, Valid: true})
	for _, item := range batch {
		var tag any // NULL
		if item.Plant.Tag != nil {
			tag = []byte(*item.Plant.Tag)
		}
		arguments = append(arguments, item.ID, []byte(item.Plant.Name), tag)
	}
	return arguments
}

// A row is a row of the table.
type row struct {
	storage.Record

	token retry.Token
}

func scan(from pgx.CollectableRow) (r row, err error) {
	var name, tag []byte
	var token pgtype.UUID
	if err := from.Scan(&r.ID, &name, &tag, &token); err != nil {
		return r, err
	}
	r.Plant.Name, r.token = string(name), token.Bytes
	if tag != nil {
		r.Plant.Tag = new(string(tag))
	}
	return r, nil
}
