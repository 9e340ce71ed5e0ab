// Sqlite is a typical plant store with GORM and SQLite, with the strongest durability of SQLite:
// a write-ahead log that is synced for each transaction.
package main

import (
	"errors"
	"log/slog"
	"os"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"plantstore/e2e/bench/internal/typical"
)

// A row is a plant in the table plants.
type row struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
	Tag  *string
}

// TableName is the name of the table.
func (row) TableName() string { return "plants" }

func main() {
	err := run()
	slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("serve", "error", err)
	os.Exit(1)
}

func run() error {
	db, err := gorm.Open(sqlite.Open("plants.db?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000"), &gorm.Config{
		Logger:         logger.Discard,
		TranslateError: true,
		PrepareStmt:    true,
	})
	if err != nil {
		return err
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1) // SQLite has one writer; more connections only wait for its lock
	if err := db.AutoMigrate(&row{}); err != nil {
		return err
	}
	return typical.Serve(func(id int64, plant typical.Plant) error {
		err := db.Create(&row{ID: id, Name: plant.Name, Tag: plant.Tag}).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return typical.ErrTaken
		}
		return err
	})
}
