/**
 * An evaluator at an HTTP endpoint, without any package: does the reply hold one of the words that we owe our users?
 *
 *   node examples/custom-evaluators/courtesy-server.ts [PORT]
 */
import { createServer, type IncomingMessage } from 'node:http';

/** The members that this evaluator reads. */
interface Asked {
  readonly run: { readonly final_response: unknown };
  readonly parameters: { readonly any_of: readonly string[] };
}

/** `status` decides which of the other members there are. */
interface Outcome {
  readonly status: 'scored' | 'skipped';
  readonly score?: number;
  readonly reason?: 'no_final_response';
  readonly explanation: string;
  readonly details?: object;
}

const bodyBytesMax = 64 * 1024 * 1024;

function outcomeOf({ run, parameters }: Asked): Outcome {
  const reply = run.final_response;
  if (typeof reply !== 'string') return { status: 'skipped', reason: 'no_final_response', explanation: 'The run has no reply in words.' };
  const said = parameters.any_of.filter((word) => reply.toLowerCase().includes(word));
  return { status: 'scored', score: said.length > 0 ? 1 : 0, explanation: said.length > 0 ? `The reply says ${said.join(', ')}.` : 'The reply holds no kind word.', details: { said } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const server = createServer((request, response) => {
  bodyOf(request)
    .then((body) => {
      const outcome = outcomeOf(JSON.parse(body) as Asked);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(outcome));
    })
    .catch(() => response.writeHead(400).end());
});

server.listen(Number(process.argv[2] ?? 9100), '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/\n`);
});
