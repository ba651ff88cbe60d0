module github.com/heddle-dev/heddle

go 1.26.0
