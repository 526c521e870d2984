"""Which expressions register tools, resources and prompts, and the functions behind them."""
