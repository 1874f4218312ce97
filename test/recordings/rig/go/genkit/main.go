// Genkit for Go with the OpenAI plugin: a flow for each turn, alone or with the other agent behind a tool.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/attribute"
)

type scenarioFile struct {
	Turns    []string `json:"turns"`
	Session  string   `json:"session"`
	Streamed bool     `json:"streamed"`
	Alone    bool     `json:"alone"`
}

type findArgs struct {
	OrderID string `json:"order_id"`
}

type refundArgs struct {
	OrderID string   `json:"order_id"`
	Amount  float64  `json:"amount"`
	Reasons []string `json:"reasons"`
}

type deskArgs struct {
	Request string `json:"request"`
}

var prompts = map[string]string{
	"order_support": "You help customers of a lamp shop.",
	"refund_desk":   "You pay money back to customers.",
}

func nowMs() float64 { return float64(time.Now().UnixNano()) / 1e6 }

func note(line map[string]any) {
	if _, ok := line["at"]; !ok {
		line["at"] = nowMs()
	}
	text, _ := json.Marshal(line)
	file, err := os.OpenFile(os.Getenv("RIG_LOG"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Fprintln(file, string(text))
}

func logged(agent, name string, args any, run func() (any, error)) (any, error) {
	at := nowMs()
	result, err := run()
	line := map[string]any{"kind": "call", "at": at, "agent": agent, "name": name, "arguments": args}
	if err != nil {
		line["error"] = map[string]any{"message": err.Error()}
	} else {
		line["result"] = result
	}
	note(line)
	return result, err
}

func value(text string) any {
	var found any
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		panic(err)
	}
	return found
}

func findOrder(args findArgs) any {
	if args.OrderID == "A-1042" {
		return value(`{"order_id":"A-1042","status":"delivered","total":79.9,"items":[{"sku":"LAMP-3","quantity":2},{"sku":"BULB-9","quantity":6}]}`)
	}
	return value(`{"order_id":"A-1043","status":"on its way","total":24,"items":[{"sku":"MUG-1","quantity":1}]}`)
}

func refundOrder(args refundArgs) (any, error) {
	if args.Amount > 100 {
		return nil, errors.New("amount 500 is more than the order total 79.9")
	}
	return map[string]any{"refund": "RF-88", "order_id": args.OrderID, "amount": args.Amount, "state": "accepted", "note": "Gutschrift in 3–5 Tagen"}, nil
}

// agent is one Genkit with its own place of the model.
func agent(ctx context.Context, name, place string) *genkit.Genkit {
	plugin := &openai.OpenAI{APIKey: "none", Opts: []option.RequestOption{option.WithBaseURL(os.Getenv("RIG_MODEL") + "/" + place + "/v1"), option.WithMaxRetries(0)}}
	return genkit.Init(ctx, genkit.WithPlugins(plugin), genkit.WithDefaultModel("openai/gpt-4o-mini"))
}

func tools(g *genkit.Genkit, name string, names ...string) []ai.ToolRef {
	refs := []ai.ToolRef{}
	for _, tool := range names {
		switch tool {
		case "find_order":
			refs = append(refs, genkit.DefineTool(g, tool, "Looks an order up by its number.", func(_ *ai.ToolContext, args findArgs) (any, error) {
				return logged(name, tool, args, func() (any, error) { return findOrder(args), nil })
			}))
		case "refund_order":
			refs = append(refs, genkit.DefineTool(g, tool, "Pays back a part of an order.", func(_ *ai.ToolContext, args refundArgs) (any, error) {
				return logged(name, tool, args, func() (any, error) { return refundOrder(args) })
			}))
		}
	}
	return refs
}

func main() {
	ctx := context.Background()
	text, err := os.ReadFile(os.Getenv("RIG_SCENARIO"))
	if err != nil {
		panic(err)
	}
	var scenario scenarioFile
	if err := json.Unmarshal(text, &scenario); err != nil {
		panic(err)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		panic(err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"))),
	)
	otel.SetTracerProvider(provider)

	root := agent(ctx, "order_support", "m1")
	own := []string{"find_order"}
	if scenario.Alone {
		own = append(own, "refund_order")
	}
	refs := tools(root, "order_support", own...)
	if !scenario.Alone {
		desk := agent(ctx, "refund_desk", "m2")
		deskTools := tools(desk, "refund_desk", "refund_order")
		flow := genkit.DefineFlow(desk, "refund_desk", func(ctx context.Context, input string) (string, error) {
			return genkit.GenerateText(ctx, desk, ai.WithSystem(prompts["refund_desk"]), ai.WithPrompt("%s", input), ai.WithTools(deskTools...))
		})
		refs = append(refs, genkit.DefineTool(root, "refund_desk", "Asks the desk for refunds.", func(tc *ai.ToolContext, args deskArgs) (string, error) {
			at := nowMs()
			result, err := flow.Run(tc, args.Request)
			note(map[string]any{"kind": "call", "at": at, "agent": "order_support", "name": "refund_desk", "arguments": args, "result": result})
			return result, err
		}))
	}
	history := []*ai.Message{}
	flow := genkit.DefineFlow(root, "order_support", func(ctx context.Context, input string) (string, error) {
		options := []ai.GenerateOption{ai.WithSystem("%s", prompts["order_support"]), ai.WithTools(refs...), ai.WithMaxTurns(8)}
		if len(history) > 0 {
			options = append(options, ai.WithMessages(history...))
		}
		options = append(options, ai.WithPrompt("%s", input))
		if scenario.Streamed {
			options = append(options, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
		}
		response, err := genkit.Generate(ctx, root, options...)
		if err != nil {
			return "", err
		}
		history = []*ai.Message{}
		for _, message := range response.History() {
			if message.Role != ai.RoleSystem {
				history = append(history, message)
			}
		}
		return response.Text(), nil
	})
	for _, input := range scenario.Turns {
		line := map[string]any{"kind": "turn", "input": input}
		if scenario.Session != "" {
			line["session"] = scenario.Session
		}
		note(line)
		answer, err := flow.Run(ctx, input)
		if err != nil {
			fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
			note(map[string]any{"kind": "aborted", "text": err.Error()})
		} else {
			note(map[string]any{"kind": "final", "text": answer})
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := provider.Shutdown(ctx); err != nil {
		panic(err)
	}
}
