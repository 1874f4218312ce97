package shop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Spring AI with Micrometer's bridge to OpenTelemetry. */
@SpringBootApplication
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
    @Tool(name = "find_order", description = "Looks an order up by its number.")
    public Map<String, Object> findOrder(@ToolParam String order_id) {
      double at = now();
      Map<String, Object> order =
          order_id.equals("A-1042")
              ? Map.of("order_id", "A-1042", "status", "delivered", "total", 79.9, "items",
                  List.of(Map.of("sku", "LAMP-3", "quantity", 2), Map.of("sku", "BULB-9", "quantity", 6)))
              : Map.of("order_id", "A-1043", "status", "on its way", "total", 24, "items", List.of(Map.of("sku", "MUG-1", "quantity", 1)));
      note(at, "call", Map.of("agent", "order_support", "name", "find_order", "arguments", Map.of("order_id", order_id), "result", order));
      return order;
    }

    @Tool(name = "refund_order", description = "Pays back a part of an order.")
    public Map<String, Object> refundOrder(@ToolParam String order_id, @ToolParam double amount, @ToolParam List<String> reasons) {
      double at = now();
      Map<String, Object> args = Map.of("order_id", order_id, "amount", amount, "reasons", reasons);
      if (amount > 100) {
        RefundError error = new RefundError("amount 500 is more than the order total 79.9");
        note(at, "call", Map.of("agent", "order_support", "name", "refund_order", "arguments", args, "error",
            Map.of("message", error.getMessage(), "type", "RefundError")));
        throw error;
      }
      Map<String, Object> refund =
          Map.of("refund", "RF-88", "order_id", order_id, "amount", amount, "state", "accepted", "note", "Gutschrift in 3–5 Tagen");
      note(at, "call", Map.of("agent", "order_support", "name", "refund_order", "arguments", args, "result", refund));
      return refund;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("spring.application.name", "shop");
    settings.put("spring.main.banner-mode", "off");
    settings.put("spring.main.web-application-type", "none");
    settings.put("logging.level.root", "warn");
    settings.put("spring.ai.openai.api-key", "none");
    settings.put("spring.ai.openai.base-url", System.getenv("RIG_MODEL") + "/m1/v1");
    settings.put("spring.ai.openai.chat.model", "gpt-4o-mini");
    settings.put("spring.ai.openai.chat.options.model", "gpt-4o-mini");
    settings.put("spring.ai.tools.observations.include-content", "true");
    settings.put("management.tracing.sampling.probability", "1.0");
    settings.put("management.otlp.metrics.export.enabled", "false");
    settings.put("management.opentelemetry.tracing.export.otlp.endpoint", System.getenv("RIG_RECEIVER") + "/v1/traces");
    settings.put("management.opentelemetry.tracing.export.otlp.compression", "gzip");
    SpringApplication application = new SpringApplication(Shop.class);
    application.setDefaultProperties(settings);
    ConfigurableApplicationContext context = application.run();
    JsonNode scenario = json.readTree(Path.of(System.getenv("RIG_SCENARIO")).toFile());
    String session = scenario.has("session") ? scenario.get("session").asText() : "thread-1";
    ChatClient client =
        context
            .getBean(ChatClient.Builder.class)
            .defaultSystem("You help customers of a lamp shop.")
            .defaultTools(new Tools())
            .defaultAdvisors(MessageChatMemoryAdvisor.builder(MessageWindowChatMemory.builder().build()).build())
            .build();
    for (JsonNode turn : scenario.get("turns")) {
      note(now(), "turn", Map.of("input", turn.asText(), "session", session));
      try {
        ChatClient.ChatClientRequestSpec request = client.prompt().user(turn.asText()).advisors(to -> to.param(ChatMemory.CONVERSATION_ID, session));
        String text =
            scenario.get("streamed").asBoolean()
                ? String.join("", request.stream().content().collectList().block())
                : request.call().content();
        note(now(), "final", Map.of("text", text));
      } catch (RuntimeException error) {
        error.printStackTrace();
        note(now(), "aborted", Map.of("text", String.valueOf(error.getMessage())));
      }
      Thread.sleep(100);
    }
    context.getBean(SdkTracerProvider.class).forceFlush().join(10, java.util.concurrent.TimeUnit.SECONDS);
    System.exit(0);
  }
}
