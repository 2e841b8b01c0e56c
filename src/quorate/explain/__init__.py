"""Why, what-if and when: the production decision run again on changed input; pure."""
