/** A judge on loopback whose answers fit any given schema; their content depends only on the question. */
import { hash } from 'node:crypto';
import { chatServer, type ChatServer } from '../judges/chat-server.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly items?: Schema;
  readonly minimum?: number;
}

export async function answeringJudge(): Promise<ChatServer> {
  return chatServer((response, { body }) => {
    const text = body.messages.map(({ content }) => content).join('\n');
    const chance = Number.parseInt(hash('sha256', text, 'hex').slice(0, 6), 16);
    const content = JSON.stringify(instance(body.response_format?.json_schema?.schema ?? { type: 'object' }, chance));
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        model: body.model,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
        usage: { prompt_tokens: Math.ceil(text.length / 4), completion_tokens: 30 },
      }),
    );
  });
}

function instance(schema: Schema, chance: number): unknown {
  if (schema.enum !== undefined) return schema.enum[chance % schema.enum.length];
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, own]) => [name, instance(own, chance)]));
    case 'array':
      return [instance(schema.items ?? {}, chance)];
    case 'boolean':
      return chance % 3 > 0;
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    default:
      return 'The run says so.';
  }
}
