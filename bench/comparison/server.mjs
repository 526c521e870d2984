// The tool of servers.py on mcp-ts-core: the same failures, the same sentences.
import { createApp, tool, z } from '@cyanheads/mcp-ts-core';
import { JsonRpcErrorCode } from '@cyanheads/mcp-ts-core/errors';

const ADDRESS = 'postgres://desk:hunter2@10.0.0.7:5432/books';
const UNKNOWN = 'There is no book with this id.';
const SEARCH = 'Call search_books to find the right id.';
const DOWN = 'The catalogue does not answer.';
const WAIT = 'Wait 30 seconds, then call again.';

class LookupError extends Error {}
class ConnectionError extends Error {}

function reserveInCatalogue(book, copies) {
  if (book === 'B-9') throw new LookupError(book);
  if (book === 'B-2') throw new ConnectionError(`cannot connect to ${ADDRESS}`);
  if (book === 'B-3') throw new Error(`unexpected row from ${ADDRESS}`);
  return `${copies} of ${book} are reserved.`;
}

const reserve = tool('reserve', {
  description: 'Reserve copies of a book.',
  input: z.object({
    book: z.string().describe('Id of the book.'),
    copies: z.number().int().min(1).describe('How many to reserve.'),
  }),
  output: z.object({ result: z.string().describe('What was reserved.') }),
  errors: [
    { reason: 'unknown_book', code: JsonRpcErrorCode.NotFound, when: UNKNOWN, recovery: SEARCH, retryable: false },
    { reason: 'catalogue_down', code: JsonRpcErrorCode.ServiceUnavailable, when: DOWN, recovery: WAIT, retryable: true },
  ],
  handler(input, ctx) {
    try {
      return { result: reserveInCatalogue(input.book, input.copies) };
    } catch (cause) {
      if (cause instanceof LookupError) {
        throw ctx.fail('unknown_book', UNKNOWN, { ...ctx.recoveryFor('unknown_book') }, { cause });
      }
      if (cause instanceof ConnectionError) {
        throw ctx.fail('catalogue_down', DOWN, { ...ctx.recoveryFor('catalogue_down') }, { cause });
      }
      throw cause;
    }
  },
});

await createApp({ name: 'desk', version: '1.0.0', tools: [reserve] });
