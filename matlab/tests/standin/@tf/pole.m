function poles = pole(system)
%POLE  Poles.

poles = roots(system.den);
end
