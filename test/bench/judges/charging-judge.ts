/** A judge on loopback that charges for every request that reaches it, and keeps the bill. */
import { chatServer, type ChatRequest } from '../../judges/chat-server.ts';

export interface Charge {
  /** The run, and the evaluator that asked. */
  readonly pair: string;
  readonly nanoUsd: number;
  /** Its answer left before the process that had asked was gone. */
  wasAnswered: boolean;
}

export interface ChargingJudge {
  readonly baseUrl: string;
  readonly bill: readonly Charge[];
  /** Answers nothing from now on: what is asked is under way. */
  hold(): void;
  /** The sender of a held question is gone; a new one is answered again. */
  forget(): void;
  /** Requests that it has not answered. */
  waiting(): number;
  close(): Promise<void>;
}

/** Price of a million tokens, in US dollars. */
export const inputPrice = 1;
export const outputPrice = 2;
const outputTokens = 50;
/** Bytes of a token, as tokens are in the wild. */
const bytesPerToken = 4;

export function inputTokensOf({ messages }: ChatRequest['body']): number {
  return Math.ceil(messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) / bytesPerToken);
}

export async function chargingJudge(): Promise<ChargingJudge> {
  const bill: Charge[] = [];
  let held = 0;
  let isHeld = false;
  const server = await chatServer((response, { body }) => {
    const text = body.messages.map(({ content }) => content).join('\n');
    const input = inputTokensOf(body);
    const charge: Charge = {
      pair: `${/order (\d+)\?/.exec(text)?.[1] ?? '?'} ${/task of the (\w+)/.exec(text)?.[1] ?? '?'}`,
      nanoUsd: (input * inputPrice + outputTokens * outputPrice) * 1_000,
      wasAnswered: false,
    };
    bill.push(charge);
    const answer = (): void => {
      charge.wasAnswered = true;
      const message = { role: 'assistant', content: '{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}' };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          choices: [{ index: 0, finish_reason: 'stop', message }],
          usage: { prompt_tokens: input, completion_tokens: outputTokens },
        }),
      );
    };
    if (isHeld) held++;
    else answer();
  });
  return {
    baseUrl: server.baseUrl,
    bill,
    hold: () => void (isHeld = true),
    forget() {
      isHeld = false;
      held = 0;
    },
    waiting: () => held,
    close: server.close,
  };
}
