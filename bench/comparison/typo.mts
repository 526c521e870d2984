// A handler of mcp-ts-core that fails with a reason that its contract does not declare.
import { tool, z } from '@cyanheads/mcp-ts-core';
import { JsonRpcErrorCode } from '@cyanheads/mcp-ts-core/errors';

export const reserve = tool('reserve', {
  description: 'Reserve a book.',
  input: z.object({ book: z.string().describe('Id of the book.') }),
  output: z.object({ result: z.string().describe('What was reserved.') }),
  errors: [
    {
      reason: 'unknown_book',
      code: JsonRpcErrorCode.NotFound,
      when: 'There is no such book.',
      recovery: 'Call search_books to find the id.',
    },
  ],
  handler(input, ctx) {
    if (input.book === 'B-9') throw ctx.fail('unknown_bok');
    return { result: input.book };
  },
});
