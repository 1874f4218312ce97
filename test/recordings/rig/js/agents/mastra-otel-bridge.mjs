/** Mastra, whose spans become those of the application's own OpenTelemetry. */
import { OtelBridge } from '@mastra/otel-bridge';
import { mastraAgents } from './mastra-agents.mjs';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp();
  const agent = await mastraAgents(options, { bridge: new OtelBridge() });
  const stop = async () => {
    await agent.stop();
    await provider.shutdown();
  };
  return { ...agent, stop };
}
