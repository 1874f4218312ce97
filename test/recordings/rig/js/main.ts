/** Runs one agent once: node main.ts AGENT SCENARIO. The environment names the model, the receiver and the log. */
import { note } from './kit.ts';
import { scenarioOf } from './scenarios.ts';

interface Agent {
  readonly turn: (input: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

interface Options {
  readonly scenario: string;
  readonly session: string | undefined;
  readonly streamed: boolean;
  readonly alone: boolean;
}

async function main(): Promise<void> {
  const [name = '', scenario = ''] = process.argv.slice(2);
  const { start } = (await import(`./agents/${name}.mjs`)) as { readonly start: (options: Options) => Promise<Agent> };
  const { turns, session, streamed = false, script } = scenarioOf(scenario);
  const agent = await start({ scenario, session, streamed, alone: script['refund_desk'] === undefined });
  for (const input of turns) {
    note({ kind: 'turn', input, ...(session === undefined ? {} : { session }) });
    try {
      note({ kind: 'final', text: await agent.turn(input) });
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
      note({ kind: 'aborted', text: String(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await agent.stop();
  process.exit(0);
}

await main();
