#define WHICH 5
