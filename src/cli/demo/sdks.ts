/** The simulated SDKs of the demonstration, one for each kind of instrumentation. */
import type { Sdk } from './sdk.ts';
import { aiSdk } from './forms/ai-sdk.ts';
import { conventions } from './forms/conventions.ts';
import { flattened } from './forms/flattened.ts';
import { plain } from './forms/plain.ts';
import type { SdkName } from './simulated.ts';

export const sdks: { readonly [name in SdkName]: Sdk } = { plain, flattened, conventions, ai_sdk: aiSdk };
