"""What pages print besides figures: the table of symbols, source code, and BertViz's views of attention maps."""
