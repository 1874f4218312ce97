/** A judge that keeps which runs it was asked about. */
import { chatServer, says } from '../../judges/chat-server.ts';
import { traceIn } from './runs.ts';

export interface RecordingJudge {
  readonly baseUrl: string;
  /** Questions about a run that it had answered before. */
  readonly again: () => number;
  readonly stop: () => Promise<void>;
}

export async function recordingJudge(): Promise<RecordingJudge> {
  const asked = new Set<number>();
  let again = 0;
  const server = await chatServer((response, request) => {
    const trace = traceIn(request.body.messages.map(({ content }) => content).join('\n'));
    if (asked.has(trace)) again++;
    asked.add(trace);
    // One task in five is not completed.
    says(JSON.stringify({ tasks: [{ number: 1, explanation: `About ${trace}.`, completed: trace % 5 !== 0 }] }))(response, request);
  });
  return { baseUrl: server.baseUrl, again: () => again, stop: () => server.close() };
}
