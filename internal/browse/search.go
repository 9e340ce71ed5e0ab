package browse

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// scanTime limits a part of a search: a database file is locked during it, and a server that
// starts tries to lock it for a second. The page pauses between two parts of a file.
const scanTime = 200 * time.Millisecond

// A part is the result of a part of a search: plants whose names begin with a text.
type part struct {
	Plants []plant `json:"plants"`
	// Searched is the number of plants that were read.
	Searched int64 `json:"searched"`
	// Next is the id to continue from, empty at the end.
	Next string `json:"next,omitzero"`
	// Corrupt is an unreadable record, which the next part skips.
	Corrupt *corruption `json:"corrupt,omitzero"`
}

// search reads plants from an id on until it has a page of plants whose names begin with prefix,
// in upper or lower case, or until scanTime has passed.
func (s *Site) search(ctx context.Context, prefix string, from int64) (p part, err error) {
	err = s.withStore(ctx, func(store Store, _ Source) error {
		deadline, weight := time.Now().Add(scanTime), 0
		for record, err := range store.List(ctx, from) {
			if p.Corrupt = newCorruption(err); p.Corrupt != nil {
				if p.Corrupt.ID != "" && p.Corrupt.id < math.MaxInt64 {
					p.Next = strconv.FormatInt(p.Corrupt.id+1, 10)
				}
				return nil
			}
			if err != nil {
				return err
			}
			if hasPrefix(record.Plant.Name, prefix) {
				shown := show(record)
				if weight += shown.weight; weight > pageWeight {
					p.Next = strconv.FormatInt(record.ID, 10)
					return nil
				}
				p.Plants = append(p.Plants, shown)
			}
			p.Searched++
			if record.ID == math.MaxInt64 {
				return nil
			}
			if time.Now().After(deadline) {
				p.Next = strconv.FormatInt(record.ID+1, 10)
				return nil
			}
		}
		return nil
	})
	return p, err
}

// hasPrefix reports whether name begins with prefix, in upper or lower case.
func hasPrefix(name, prefix string) bool {
	return strings.EqualFold(firstCharacters(name, utf8.RuneCountInString(prefix)), prefix)
}
