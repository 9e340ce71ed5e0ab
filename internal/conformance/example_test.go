package conformance_test

import (
	"fmt"

	"plantstore/internal/conformance"
)

// ExampleCases shows that a case is data: the request, byte for byte, and the expected response.
func ExampleCases() {
	for _, c := range conformance.Cases() {
		if c.Rule == "C2.12" && c.Name == "only tag" {
			exchange := c.Exchanges[0]
			fmt.Println(exchange.Send[0].Line)
			fmt.Println(exchange.Send[0].Body)
			fmt.Println("error", exchange.Want[0].Codes, "naming", exchange.Want[0].Naming)
		}
	}
	// Output:
	// POST {{path}}/plants HTTP/1.1
	// {"tag":"green"}
	// error [422] naming [id name]
}
