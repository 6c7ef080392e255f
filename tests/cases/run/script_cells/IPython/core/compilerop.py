"""A cell is compiled under the name of a file that there is none of."""


class CachingCompiler:
    def cache(self, transformed_code, number=0, raw_code=None):
        return f"/tmp/ipykernel_17/{number}.py" if number != 3 else "<ipython-input-3-abc>"
