package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"plantstore/storage"
)

// The statements. They stay within what PostgreSQL, CockroachDB, YugabyteDB and
// Citus document as supported; a test holds them against what they refuse. Names
// and tags are bytes, since a text cannot hold U+0000, which a plant can (C2.14).
const (
	createTable = `CREATE TABLE IF NOT EXISTS plants (
	id bigint PRIMARY KEY,
	name bytea NOT NULL,
	tag bytea,
	request uuid NOT NULL
)`
	selectOne   = `SELECT id, name, tag, request FROM plants WHERE id = $1`
	selectTaken = `SELECT id, name, tag, request FROM plants WHERE id = ANY($1)`

	insertHead = `INSERT INTO plants (request, id, name, tag) VALUES `
	insertTail = ` ON CONFLICT (id) DO NOTHING RETURNING id`

	selectColumns = `SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = 'plants' ORDER BY column_name`
	selectSettings = `SELECT coalesce(current_setting('fsync', true), ''), coalesce(current_setting('synchronous_commit', true), '')`
	selectReadOnly = `SELECT coalesce(current_setting('transaction_read_only', true), '')`
	// lockSchema keeps others from making the table at the same time. The number
	// is that of this program.
	lockSchema = `SELECT pg_advisory_xact_lock(7810485398571)`
)

// selectFrom selects a page.
var selectFrom = fmt.Sprintf(`SELECT id, name, tag, request FROM plants WHERE id >= $1 ORDER BY id LIMIT %d`, pageRecords) //nolint:gochecknoglobals // a constant that fmt makes

// columns are those of the table, as selectColumns tells them.
const columns = "id bigint, name bytea, request uuid, tag bytea"

// insertSQL returns the statement that inserts n plants. Its parameters are the
// request, and then the id, the name and the tag of each.
func insertSQL(n int) string {
	var b strings.Builder
	b.WriteString(insertHead)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "($1,$%d,$%d,$%d)", 3*i+2, 3*i+3, 3*i+4)
	}
	b.WriteString(insertTail)
	return b.String()
}

// insertArguments returns the arguments of insertSQL.
func insertArguments(request storage.Request, batch []storage.Item) []any {
	arguments := make([]any, 0, 1+3*len(batch))
	arguments = append(arguments, uuid(request))
	for _, item := range batch {
		var tag any // NULL
		if item.Plant.Tag != nil {
			tag = []byte(*item.Plant.Tag)
		}
		arguments = append(arguments, item.ID, []byte(item.Plant.Name), tag)
	}
	return arguments
}

// A row is one of the table.
type row struct {
	storage.Record

	request storage.Request
}

// scan reads a row.
func scan(from pgx.CollectableRow) (r row, err error) {
	var name, tag []byte
	var request pgtype.UUID
	if err := from.Scan(&r.ID, &name, &tag, &request); err != nil {
		return r, err
	}
	r.Plant.Name, r.request = string(name), request.Bytes
	if tag != nil {
		text := string(tag)
		r.Plant.Tag = &text
	}
	return r, nil
}

// uuid returns a request as PostgreSQL knows it.
func uuid(request storage.Request) pgtype.UUID { return pgtype.UUID{Bytes: request, Valid: true} }
