package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxRequests bounds the number in a Rate, and a burst.
const maxRequests = 1_000_000

// A Rate is a number of requests in a unit of time, such as 100/s. The zero value means no
// limit.
type Rate struct {
	Requests int
	Per      time.Duration
}

// units are the units of time of a Rate, by their names.
func units() map[string]time.Duration {
	return map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
}

// Parse returns the Rate in a text of the form N/s, N/m or N/h, with N from 1 to 1000000.
func Parse(text string) (Rate, error) {
	number, name, _ := strings.Cut(text, "/")
	unit := units()[name]
	n, err := ParseBurst(number)
	if err != nil || unit == 0 {
		return Rate{}, fmt.Errorf("must be requests in a second, minute or hour, such as 100/s, 600/m or 1000/h, at most %d", maxRequests)
	}
	return Rate{Requests: n, Per: unit}, nil
}

// ParseBurst returns the number of requests in a text, from 1 to 1000000.
func ParseBurst(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > maxRequests {
		return 0, fmt.Errorf("must be a number from 1 to %d", maxRequests)
	}
	return int(n), nil
}

// String returns the text of r that [Parse] accepts, empty for the zero value.
func (r Rate) String() string {
	for name, unit := range units() {
		if unit == r.Per {
			return fmt.Sprintf("%d/%s", r.Requests, name)
		}
	}
	return ""
}

// PerSecond returns the requests in a second.
func (r Rate) PerSecond() float64 { return float64(r.Requests) / r.Per.Seconds() }
