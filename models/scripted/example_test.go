package scripted_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/scripted"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A test of an agent gives it a script in place of a model.
func Example() {
	model, err := scripted.Parse("weather.yaml", []byte(`
turns:
  - when: {contains: weather}
    steps:
      - calls:
          - tool: weather.forecast
            input: {city: Oslo}
      - expect:
          results:
            - {tool: weather.forecast, failed: false}
        text: "Oslo will have ${weather.forecast#/celsius} °C."
`))
	if err != nil {
		log.Fatal(err)
	}
	messages := []contract.Message{{Role: contract.RoleUser, Turn: "t1", Text: "How will the weather be?"}}
	reply, err := model.Generate(context.Background(), activities.ModelRequest{Messages: messages}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Stop, reply.Calls[0].Name, reply.Calls[0].Input)

	messages = append(messages,
		contract.Message{Role: contract.RoleAssistant, Turn: "t1", Calls: []contract.Call{{ID: "t1-s1-c1", Tool: "weather__forecast"}}},
		contract.Message{Role: contract.RoleTool, Turn: "t1", Call: "t1-s1-c1", Tool: "weather__forecast", Text: `{"celsius":-4}`})
	reply, err = model.Generate(context.Background(), activities.ModelRequest{Messages: messages}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Stop, reply.Text)

	_, err = model.Generate(context.Background(), activities.ModelRequest{Messages: messages[:2]}, nil)
	fmt.Println(err)
	// Output:
	// tool_calls weather__forecast {"city":"Oslo"}
	// end Oslo will have -4 °C.
	// model: invalid_request: script weather.yaml: turn 1, step 2 (line 8): expected that there is a result of weather.forecast; there is none
}
