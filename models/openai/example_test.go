package openai_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/openai"
	"github.com/heddle-dev/heddle/signals/contract"
)

// The server here stands for Ollama, vLLM or OpenAI itself.
func Example() {
	server := httptest.NewServer(answer("text/event-stream",
		events(delta(`"content":"Good "`), delta(`"content":"morning."`), finish("stop"), done)))
	defer server.Close()

	model, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", APIKey: openai.Key("sk-...")})
	if err != nil {
		log.Fatal(err)
	}
	reply, err := model.Generate(context.Background(), activities.ModelRequest{
		Model:    "gpt-test",
		Messages: []contract.Message{{Role: contract.RoleUser, Text: "Hello?"}},
	}, func(d activities.ModelDelta) { fmt.Printf("%q ", d.Text) })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Stop, reply.Text)
	// Output:
	// "Good " "morning." end Good morning.
}

// An error says what it means for the next attempt.
func ExampleModel_Generate_rateLimited() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "20")
		http.Error(w, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, http.StatusTooManyRequests)
	}))
	defer server.Close()

	model, err := openai.New(openai.Config{BaseURL: server.URL})
	if err != nil {
		log.Fatal(err)
	}
	_, err = model.Generate(context.Background(), activities.ModelRequest{
		Model:    "gpt-test",
		Messages: []contract.Message{{Role: contract.RoleUser, Text: "Hello?"}},
	}, nil)
	var failed *activities.ModelError
	if errors.As(err, &failed) {
		fmt.Println(failed, failed.Retryable(), failed.RetryAfter)
	}
	// Output:
	// model: rate_limited (HTTP 429): Rate limit reached true 20s
}
