package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/logging"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// remedy is the advice for a corrupt database.
const remedy = "restore a backup"

// corruptStore returns err. If that is a *bbolt.CorruptStoreError, it prints the findings and returns
// an error with this message and exit code 3 instead.
func corruptStore(p *Process, err error, format string, args ...any) error {
	var corrupt *bbolt.CorruptStoreError
	if !errors.As(err, &corrupt) {
		return err
	}
	if err := writeFindings(p.Stderr, corrupt.Report); err != nil {
		return err
	}
	return findings(format, args...)
}

func writeFindings(w io.Writer, report storage.Report) error {
	var text strings.Builder
	for _, finding := range report.Corruption {
		text.WriteString(logging.Line(finding) + "\n")
	}
	if report.More > 0 {
		text.WriteString("and " + counted(report.More, "more finding", "more findings") + "\n")
	}
	if report.Plants > 0 || report.Intact() { // else nothing was counted
		text.WriteString(counted(report.Plants, "plant is", "plants are") + " intact, " + counted(report.Findings(), "finding", "findings") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func writeFindingsJSON(w io.Writer, report storage.Report) error {
	if err := json.MarshalWrite(w, report, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
