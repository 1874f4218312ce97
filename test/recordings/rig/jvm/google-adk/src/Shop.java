import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.adk.agents.LlmAgent;
import com.google.adk.agents.RunConfig;
import com.google.adk.models.Gemini;
import com.google.adk.runner.InMemoryRunner;
import com.google.adk.tools.AgentTool;
import com.google.adk.tools.Annotations.Schema;
import com.google.adk.tools.FunctionTool;
import com.google.genai.Client;
import com.google.genai.types.Content;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Google's Agent Development Kit for Java with its own spans: alone, with the other agent as a tool, or with a transfer to it. */
public class Shop {
  static final ObjectMapper json = new ObjectMapper();

  static double now() {
    Instant at = Instant.now();
    return at.getEpochSecond() * 1000.0 + at.getNano() / 1e6;
  }

  static void note(double at, String kind, Map<String, Object> more) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", at);
    line.put("kind", kind);
    line.putAll(more);
    try {
      Files.writeString(Path.of(System.getenv("RIG_LOG")), json.writeValueAsString(line) + "\n", StandardOpenOption.APPEND);
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }

  static class RefundError extends RuntimeException {
    RefundError(String message) {
      super(message);
    }
  }

  public static class Tools {
    private final String agent;

    Tools(String agent) {
      this.agent = agent;
    }

    @Schema(description = "Looks an order up by its number.")
    public Map<String, Object> find_order(@Schema(name = "order_id") String order_id) {
      double at = now();
      Map<String, Object> order =
          order_id.equals("A-1042")
              ? Map.of("order_id", "A-1042", "status", "delivered", "total", 79.9, "items",
                  List.of(Map.of("sku", "LAMP-3", "quantity", 2), Map.of("sku", "BULB-9", "quantity", 6)))
              : Map.of("order_id", "A-1043", "status", "on its way", "total", 24, "items", List.of(Map.of("sku", "MUG-1", "quantity", 1)));
      note(at, "call", Map.of("agent", agent, "name", "find_order", "arguments", Map.of("order_id", order_id), "result", order));
      return order;
    }

    @Schema(description = "Pays back a part of an order.")
    public Map<String, Object> refund_order(
        @Schema(name = "order_id") String order_id, @Schema(name = "amount") double amount, @Schema(name = "reasons") List<String> reasons) {
      double at = now();
      Map<String, Object> args = Map.of("order_id", order_id, "amount", amount, "reasons", reasons);
      if (amount > 100) {
        RefundError error = new RefundError("amount 500 is more than the order total 79.9");
        note(at, "call", Map.of("agent", agent, "name", "refund_order", "arguments", args, "error",
            Map.of("message", error.getMessage(), "type", "RefundError")));
        throw error;
      }
      Map<String, Object> refund =
          Map.of("refund", "RF-88", "order_id", order_id, "amount", amount, "state", "accepted", "note", "Gutschrift in 3–5 Tagen");
      note(at, "call", Map.of("agent", agent, "name", "refund_order", "arguments", args, "result", refund));
      return refund;
    }
  }

  static LlmAgent agent(String name, String prompt, List<Object> tools, List<LlmAgent> below) {
    String place = name.equals("refund_desk") ? "m2" : "m1";
    Client client =
        Client.builder().apiKey("none").httpOptions(HttpOptions.builder().baseUrl(System.getenv("RIG_MODEL") + "/" + place).build()).build();
    return LlmAgent.builder()
        .name(name)
        .description(name.equals("refund_desk") ? "Pays refunds." : "Answers customers.")
        .model(Gemini.builder().modelName("gemini-2.5-flash").apiClient(client).build())
        .instruction(prompt)
        .tools(tools)
        .subAgents(below)
        .build();
  }

  public static void main(String[] arguments) throws Exception {
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(
                BatchSpanProcessor.builder(
                        OtlpHttpSpanExporter.builder().setEndpoint(System.getenv("RIG_RECEIVER") + "/v1/traces").setCompression("gzip").build())
                    .build())
            .build();
    OpenTelemetrySdk.builder().setTracerProvider(provider).buildAndRegisterGlobal();
    JsonNode scenario = json.readTree(Path.of(System.getenv("RIG_SCENARIO")).toFile());
    String name = scenario.get("scenario").asText();
    boolean alone = scenario.get("alone").asBoolean();
    String session = scenario.has("session") ? scenario.get("session").asText() : "thread-1";
    Tools own = new Tools("order_support");
    List<Object> tools = new ArrayList<>(List.of(FunctionTool.create(own, "find_order")));
    List<LlmAgent> below = new ArrayList<>();
    if (alone) {
      tools.add(FunctionTool.create(own, "refund_order"));
    } else {
      LlmAgent desk =
          agent("refund_desk", "You pay money back to customers.", List.of(FunctionTool.create(new Tools("refund_desk"), "refund_order")), List.of());
      if (name.equals("handoff")) below.add(desk);
      else tools.add(AgentTool.create(desk));
    }
    InMemoryRunner runner = new InMemoryRunner(agent("order_support", "You help customers of a lamp shop.", tools, below), "shop");
    runner.sessionService().createSession("shop", "user-1", null, session).blockingGet();
    RunConfig config =
        RunConfig.builder()
            .streamingMode(scenario.get("streamed").asBoolean() ? RunConfig.StreamingMode.SSE : RunConfig.StreamingMode.NONE)
            .build();
    for (JsonNode turn : scenario.get("turns")) {
      note(now(), "turn", Map.of("input", turn.asText(), "session", session));
      try {
        StringBuilder text = new StringBuilder();
        runner
            .runAsync("user-1", session, Content.fromParts(Part.fromText(turn.asText())), config)
            .blockingForEach(
                event -> {
                  if (event.finalResponse()) {
                    text.setLength(0);
                    text.append(event.stringifyContent());
                  }
                });
        note(now(), "final", Map.of("text", text.toString()));
      } catch (RuntimeException error) {
        error.printStackTrace();
        note(now(), "aborted", Map.of("text", String.valueOf(error.getMessage())));
      }
      Thread.sleep(100);
    }
    provider.shutdown().join(5, java.util.concurrent.TimeUnit.SECONDS);
    System.exit(0);
  }
}
