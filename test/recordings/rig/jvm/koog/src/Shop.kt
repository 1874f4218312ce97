/** Koog with its OpenTelemetry feature: alone, or with the other agent behind a tool. */
import ai.koog.agents.core.agent.AIAgent
import ai.koog.agents.core.tools.SimpleTool
import ai.koog.agents.core.tools.ToolRegistry
import ai.koog.agents.core.tools.annotations.LLMDescription
import ai.koog.agents.features.opentelemetry.feature.OpenTelemetry
import ai.koog.prompt.executor.clients.openai.OpenAIClientSettings
import ai.koog.prompt.executor.clients.openai.OpenAILLMClient
import ai.koog.prompt.executor.clients.openai.OpenAIModels
import ai.koog.prompt.executor.llms.MultiLLMPromptExecutor
import ai.koog.serialization.typeToken
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter
import java.io.File
import java.time.Instant
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.*

private val logFile = File(System.getenv("RIG_LOG"))
private val scenario = Json.parseToJsonElement(File(System.getenv("RIG_SCENARIO")).readText()).jsonObject
private val alone = scenario["alone"]!!.jsonPrimitive.boolean
private val session = scenario["session"]?.jsonPrimitive?.contentOrNull

private fun now(): Double = Instant.now().let { it.epochSecond * 1000.0 + it.nano / 1e6 }

private fun note(kind: String, at: Double, more: JsonObjectBuilder.() -> Unit) =
    logFile.appendText(buildJsonObject { put("at", at); put("kind", kind); more() }.toString() + "\n")

class RefundError(message: String) : Exception(message)

private fun logged(agent: String, name: String, args: JsonObject, run: () -> JsonElement): String {
    val at = now()
    try {
        val result = run()
        note("call", at) { put("agent", agent); put("name", name); put("arguments", args); put("result", result) }
        return if (result is JsonPrimitive) result.content else result.toString()
    } catch (error: RefundError) {
        note("call", at) {
            put("agent", agent); put("name", name); put("arguments", args)
            putJsonObject("error") { put("message", error.message); put("type", "RefundError") }
        }
        throw error
    }
}

@Serializable
data class FindArgs(val order_id: String)

class FindOrder(private val agent: String) : SimpleTool<FindArgs>(typeToken<FindArgs>(), "find_order", "Looks an order up by its number.") {
    override suspend fun execute(args: FindArgs): String =
        logged(agent, name, buildJsonObject { put("order_id", args.order_id) }) {
            Json.parseToJsonElement(
                if (args.order_id == "A-1042") """{"order_id":"A-1042","status":"delivered","total":79.9,"items":[{"sku":"LAMP-3","quantity":2},{"sku":"BULB-9","quantity":6}]}"""
                else """{"order_id":"A-1043","status":"on its way","total":24,"items":[{"sku":"MUG-1","quantity":1}]}""",
            )
        }
}

@Serializable
data class RefundArgs(val order_id: String, val amount: Double, val reasons: List<String>)

class RefundOrder(private val agent: String) : SimpleTool<RefundArgs>(typeToken<RefundArgs>(), "refund_order", "Pays back a part of an order.") {
    override suspend fun execute(args: RefundArgs): String =
        logged(agent, name, Json.encodeToJsonElement(RefundArgs.serializer(), args).jsonObject) {
            if (args.amount > 100) throw RefundError("amount 500 is more than the order total 79.9")
            buildJsonObject {
                put("refund", "RF-88"); put("order_id", args.order_id); put("amount", args.amount); put("state", "accepted")
                put("note", "Gutschrift in 3–5 Tagen")
            }
        }
}

@Serializable
data class DeskArgs(val request: String)

class AskDesk : SimpleTool<DeskArgs>(typeToken<DeskArgs>(), "refund_desk", "Asks the desk for refunds.") {
    override suspend fun execute(args: DeskArgs): String {
        val at = now()
        val desk = agent("refund_desk", "You pay money back to customers.", ToolRegistry { tool(RefundOrder("refund_desk")) })
        val result = desk.run(args.request)
        note("call", at) {
            put("agent", "order_support"); put("name", name); put("result", result)
            putJsonObject("arguments") { put("request", args.request) }
        }
        return result
    }
}

private fun agent(name: String, prompt: String, tools: ToolRegistry): AIAgent<String, String> {
    val place = if (name == "refund_desk") "m2" else "m1"
    val client = OpenAILLMClient("none", OpenAIClientSettings(baseUrl = "${System.getenv("RIG_MODEL")}/$place"))
    return AIAgent(
        promptExecutor = MultiLLMPromptExecutor(client),
        llmModel = OpenAIModels.Chat.GPT4oMini,
        toolRegistry = tools,
        systemPrompt = prompt,
        id = name,
    ) {
        install(OpenTelemetry) {
            setServiceInfo("shop", "1")
            setVerbose(true)
            addSpanExporter(
                OtlpHttpSpanExporter.builder().setEndpoint("${System.getenv("RIG_RECEIVER")}/v1/traces").setCompression("gzip").build(),
            )
        }
    }
}

fun main() {
    runBlocking {
        for (turn in scenario["turns"]!!.jsonArray) {
            val input = turn.jsonPrimitive.content
            note("turn", now()) { put("input", input); if (session != null) put("session", session) }
            try {
                val root = agent(
                    "order_support",
                    "You help customers of a lamp shop.",
                    ToolRegistry {
                        tool(FindOrder("order_support"))
                        if (alone) tool(RefundOrder("order_support")) else tool(AskDesk())
                    },
                )
                val text = if (session == null) root.run(input) else root.run(input, session)
                note("final", now()) { put("text", text) }
            } catch (error: Exception) {
                error.printStackTrace()
                note("aborted", now()) { put("text", error.message) }
            }
            Thread.sleep(100)
        }
        // Longer than the delay after which spans are sent.
        Thread.sleep(6000)
    }
    System.exit(0)
}
