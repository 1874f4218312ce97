/** `tracejury mcp`: MCP on standard input and output. The service at `--url` answers each message, so both transports have the same tools. */
import { createInterface } from 'node:readline';
import { httpClient } from '../../http/http-client.ts';
import { isJsonObject, type JsonObject, jsonText, type JsonValue, member, parseJson } from '../../model/json.ts';
import { addressOption, type CommandInput, type CommandProgram } from '../command.ts';

const urlDefault = 'http://127.0.0.1:4380';
const timeoutMs = 60_000;
const answerBytesMax = 1024 * 1024;
/** Messages that the service works on at a time. */
const messagesMax = 4;
/** Internal error, in JSON-RPC. */
const errorCode = -32_603;

export const mcp: CommandProgram = {
  examples: [
    { does: 'Serves the tools of the service on this machine:', line: 'tracejury mcp' },
    {
      does: 'Serves those of another service, with the token in TRACEJURY_TOKEN:',
      line: 'tracejury mcp --url https://tracejury.example',
    },
  ],
  options: {
    url: {
      type: 'string',
      value: 'URL',
      summary: `asks the console of this service (default: ${urlDefault}), with the token in TRACEJURY_TOKEN`,
    },
  },
  positionalsMax: 0,
  run: served,
};

async function served(input: CommandInput): Promise<0> {
  const client = mcpClient(addressOption(input, 'url', 'the address of the console') ?? urlDefault, input.env['TRACEJURY_TOKEN']);
  const working = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const work = client.answer(line).then((answer) => {
      working.delete(work);
      if (answer !== '') input.say(answer);
    });
    working.add(work);
    // Reads no further line until there is room.
    if (working.size >= messagesMax) await Promise.race(working);
  }
  await Promise.all(working);
  client.stop();
  return 0;
}

interface McpClient {
  /** The answer to a message in one line; empty for a notification. */
  answer(message: string): Promise<string>;
  stop(): void;
}

function mcpClient(url: string, token: string | undefined): McpClient {
  const http = httpClient();
  /** That client and service have agreed on. */
  let version: string | undefined;

  async function answer(message: string): Promise<string> {
    const given = await http.send({
      url: `${url}/mcp`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
      },
      body: Buffer.from(message),
      timeoutMs,
      answerBytesMax,
    });
    if (given.kind === 'unanswered') {
      const reason = given.reason === 'failed' ? given.code : given.reason;
      return errorText(message, `${url} does not answer (${reason}). Start the service, or name its console with --url.`);
    }
    const text = given.body.toString('utf8');
    if (text === '' && given.status < 300) return '';
    const value = parseJson(text) ?? null;
    if (given.status >= 300 || !isJsonObject(value) || given.isCut) return errorText(message, faultOf(url, given.status, value));
    const agreed = memberOf(member(value, 'result'), 'protocolVersion');
    if (typeof agreed === 'string') version = agreed;
    return jsonText(value);
  }

  return { answer, stop: () => http.stop() };
}

/** The error of the API, or of the protocol. */
function faultOf(url: string, status: number, value: JsonValue): string {
  const error = memberOf(value, 'error');
  const sentences = ['message', 'todo'].flatMap((name) => {
    const sentence = memberOf(error, name);
    return typeof sentence === 'string' ? [sentence] : [];
  });
  return sentences.length > 0 ? sentences.join(' ') : `${url} answers with ${status}, but not as a tracejury service with MCP.`;
}

/** Empty for a message that expects no answer. */
function errorText(message: string, fault: string): string {
  const id = memberOf(parseJson(message), 'id');
  const answer: JsonObject = { jsonrpc: '2.0', id: id ?? null, error: { code: errorCode, message: fault } };
  return id === undefined ? '' : jsonText(answer);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value !== undefined && isJsonObject(value) ? member(value, name) : undefined;
}
