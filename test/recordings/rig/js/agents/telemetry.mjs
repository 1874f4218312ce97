/** What the AI SDK up to 6 takes with each call. */
export const telemetryOf =
  ({ session }) =>
  (functionId) => ({
    experimental_telemetry: { isEnabled: true, functionId, ...(session === undefined ? {} : { metadata: { sessionId: session } }) },
  });
