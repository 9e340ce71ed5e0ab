// The program etcd is the server of etcd, for the end-to-end tests. It is a separate module,
// since its dependencies are many and nothing else needs them.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
