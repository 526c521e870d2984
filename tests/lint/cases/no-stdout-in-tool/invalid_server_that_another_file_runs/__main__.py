from app import orders

orders.run()
