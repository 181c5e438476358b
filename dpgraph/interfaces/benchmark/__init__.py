"""Private results of public graphs beside peers, by epsilon: what ``dpgraph benchmark`` measures. **Not private.**"""
