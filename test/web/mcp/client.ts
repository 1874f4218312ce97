/** The official client of MCP, connected to a service over HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../src/model/json.ts';

/** Text of a tool's answer, and its parts. */
export interface ToolText {
  readonly text: string;
  readonly isError: boolean;
  /** Between the marks. */
  readonly data: JsonObject;
  readonly raw: string;
  /** Outside of the marks. */
  readonly notes: string;
  readonly mark: string;
}

export interface Connected {
  readonly client: Client;
  readonly call: (tool: string, given?: { readonly [name: string]: JsonValue }) => Promise<ToolText>;
}

export async function overHttp(console: string, token?: string): Promise<Connected> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return await connected(new StreamableHTTPClientTransport(new URL(`${console}/mcp`), { requestInit: { headers } }));
}

export async function connected(transport: Transport): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    async call(tool, given = {}) {
      const { content, isError } = await client.callTool({ name: tool, arguments: { ...given } });
      const [only] = content as readonly { readonly type: string; readonly text: string }[];
      return read(only?.text ?? '', isError === true);
    },
  };
}

function read(text: string, isError: boolean): ToolText {
  const found = /^([^]*)\n<data (\S+)>\n([^]*)\n<\/data \2>([^]*)$/.exec(text);
  if (found === null) throw new Error(`no marks: ${text}`);
  const [, before = '', mark = '', raw = '', after = ''] = found;
  const data = parseJson(raw) ?? null;
  if (!isJsonObject(data)) throw new Error(`no JSON: ${raw}`);
  return { text, isError, data, raw, mark, notes: `${before}\n${after}` };
}

export function rows(value: JsonValue | undefined): readonly JsonObject[] {
  return (value ?? []) as readonly JsonObject[];
}
