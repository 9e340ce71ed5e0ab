package storage

import (
	"fmt"

	"plantstore/models"
)

// A Record is a plant with the id under which it is stored. As JSON it is a
// NewPlant: {"id":…,"name":…,"tag":…}.
type Record struct {
	ID    int64        `json:"id"`
	Plant models.Plant `json:",embed"`
}

// Size returns the bytes of name and tag, which the queue and [Limits] bound.
func (r Record) Size() int {
	if r.Plant.Tag == nil {
		return len(r.Plant.Name)
	}
	return len(r.Plant.Name) + len(*r.Plant.Tag)
}

// A Report is the result of a check of a store.
type Report struct {
	// Plants is the number of intact records.
	Plants int64 `json:"plants"`
	// Corruption has a line for each finding, at most 10,000 of them.
	Corruption []string `json:"corruption"`
	// More is the number of findings that Corruption leaves out.
	More int64 `json:"more,omitzero"`
}

// maxFindings bounds the findings that a Report lists.
const maxFindings = 10_000

// Findings returns the number of findings.
func (r *Report) Findings() int64 { return int64(len(r.Corruption)) + r.More }

// Intact reports whether there are no findings.
func (r *Report) Intact() bool { return len(r.Corruption) == 0 }

// Add adds a finding.
func (r *Report) Add(format string, args ...any) {
	if len(r.Corruption) == maxFindings {
		r.More++
		return
	}
	r.Corruption = append(r.Corruption, fmt.Sprintf(format, args...))
}
